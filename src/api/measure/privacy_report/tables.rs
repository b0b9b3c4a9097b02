//! The tables of a report: which columns are compared, and in which of them rows were to look alike.

use super::options::{Candidate, Options};
use crate::api::prelude::*;
use crate::api::release::hierarchy::{Sides, shown_as};
use measures::Made;

/// The original and the releases, with the same columns in the same order.
pub struct Tables {
    pub original: Input,
    /// Its rows with the column that identifies people, if that is known.
    pub people: Option<People>,
    pub releases: Vec<Beside>,
    /// The columns by which a person may be known: those in which rows of some release were to look alike.
    pub known: Vec<usize>,
    /// Columns that are not compared, and why.
    pub notes: Vec<String>,
}

/// The rows of the original with the people that they are about.
pub struct People {
    /// The column, or the path, that identifies people.
    pub name: String,
    /// Where it is among the columns of the rows.
    pub unit: usize,
    pub rows: Bag,
}

/// A release compared with the original.
pub struct Beside {
    pub input: Input,
    /// How each column writes the original's values.
    pub written: Vec<Written>,
    /// How each column was made.
    pub made: Vec<Made>,
    /// The columns in which rows were to look alike, of those that are compared.
    pub class: Vec<usize>,
    /// Columns in which rows were to look alike and that are not compared.
    pub not_compared: Vec<String>,
    pub sensitive: Option<usize>,
    pub k: Option<u64>,
}

impl Tables {
    /// Reads with the caller's rights; a release may have more columns, in any order and of any types.
    pub fn read(original: Oid, options: &Options) -> Result<Self> {
        let original = Relation::open(original)?;
        let candidates = options.candidates.iter();
        let opened = candidates.clone().map(|candidate| Relation::open(candidate.relation));
        let releases = opened.collect::<Result<Vec<_>, _>>()?;
        let mut notes = Vec::new();
        let columns = match &options.columns {
            Some(names) => original.positions("columns", Some(names))?,
            None => common(&original, &releases, &options.candidates, &mut notes),
        };
        for (release, candidate) in releases.iter().zip(candidates.clone()) {
            if candidate.source.is_some_and(|source| source != original.oid) {
                notes.push(format!(
                    "{} was published from another table than {}: its label is about that one.",
                    release.name, original.name
                ));
            }
        }
        let names: Vec<String> =
            columns.iter().map(|&column| original.columns[column].name.clone()).collect();
        let place = |name: &str| names.iter().position(|one| one == name);
        let places = |release: &Relation| names.iter().map(|name| release.position(name)).collect();
        let places = releases.iter().map(places).collect::<Result<Vec<Vec<_>>>>()?;
        let (bag, people) = rows(&original, &columns, options, &mut notes)?;
        let mut tables = Tables {
            original: Input::of_rows(original.name.clone(), bag),
            people,
            releases: Vec::new(),
            known: Vec::new(),
            notes,
        };
        let classes: Vec<Vec<usize>> = candidates
            .clone()
            .map(|one| (0..names.len()).filter(|&column| one.is_in_class(&names[column])).collect())
            .collect();
        let sensitive: Vec<Option<usize>> =
            candidates.clone().map(|one| one.sensitive().and_then(place)).collect();
        let mut sides = Sides { original, columns, shown_as: Vec::new() };
        let each = releases.into_iter().zip(places).zip(candidates).zip(classes).zip(sensitive);
        for ((((release, places), candidate), class), sensitive) in each {
            sides.shown_as = shown_as(&release, &places);
            let written = sides.written(tables.original.bag.domains(), |_| true)?;
            let bag = match places.is_empty() {
                true => Bag::from_text(0, std::iter::empty::<[Option<&str>; 0]>()),
                false => reader::read_beside(&release, &places, tables.memory())?.bag,
            };
            let made = names.iter().map(|name| candidate.made(name)).collect();
            let theirs = release.columns.iter().map(|column| &column.name);
            let not_compared = theirs
                .filter(|name| candidate.is_in_class(name) && !candidate.is_left_blank(name))
                .filter(|name| !names.contains(name))
                .cloned()
                .collect();
            let input = Input::of_rows(release.name, bag);
            let k = candidate.k();
            tables.releases.push(Beside {
                input,
                written,
                made,
                class,
                not_compared,
                sensitive,
                k,
            });
        }
        let in_a_class =
            |column: &usize| tables.releases.iter().any(|one| one.class.contains(column));
        tables.known = (0..tables.original.bag.width()).filter(in_a_class).collect();
        if tables.known.is_empty() {
            tables.known = (0..tables.original.bag.width()).collect();
        }
        Ok(tables)
    }

    /// The bytes that they hold.
    pub fn memory(&self) -> u64 {
        let people = self.people.as_ref().map_or(0, |people| people.rows.own_memory());
        let written =
            self.releases.iter().flat_map(|release| &release.written).map(Written::memory);
        let bags = self.releases.iter().map(|release| release.input.bag.memory());
        self.original.bag.memory() + people + bags.chain(written).sum::<u64>()
    }
}

/// The columns that all tables have, without those that every release leaves blank; says which are left out.
fn common(
    original: &Relation,
    releases: &[Relation],
    candidates: &[Candidate],
    notes: &mut Vec<String>,
) -> Vec<usize> {
    let has = |relation: &Relation, name: &str| relation.columns.iter().any(|one| one.name == name);
    let list = |names: Vec<&str>| names.join(", ");
    for release in releases {
        let ours = original.columns.iter().map(|column| column.name.as_str());
        let theirs = release.columns.iter().map(|column| column.name.as_str());
        let added: Vec<&str> = ours.filter(|name| !has(release, name)).collect();
        if !added.is_empty() {
            notes.push(format!(
                "Not compared, as only {} has them: {}. They may be newer than the release.",
                original.name,
                list(added)
            ));
        }
        let lost: Vec<&str> = theirs.filter(|name| !has(original, name)).collect();
        if !lost.is_empty() {
            notes.push(format!(
                "Not compared, as only {} has them: {}. They may have been dropped from the original since.",
                release.name,
                list(lost)
            ));
        }
    }
    let in_all = |name: &str| releases.iter().all(|release| has(release, name));
    let is_blank = |name: &str| candidates.iter().all(|candidate| candidate.is_left_blank(name));
    let shared = || original.columns.iter().enumerate().filter(|(_, column)| in_all(&column.name));
    let blank: Vec<&str> =
        shared().map(|(_, column)| column.name.as_str()).filter(|name| is_blank(name)).collect();
    if !blank.is_empty() {
        notes.push(format!("Left blank by the method, and not compared: {}.", list(blank)));
    }
    shared().filter(|(_, column)| !is_blank(&column.name)).map(|(position, _)| position).collect()
}

/// The rows of the original, and the same with people, if a column that identifies them is known; if people are not
/// counted, a note says why.
fn rows(
    original: &Relation,
    columns: &[usize],
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<(Bag, Option<People>)> {
    if columns.is_empty() {
        return Ok((Bag::from_text(0, std::iter::empty::<[Option<&str>; 0]>()), None));
    }
    let Some(unit) = unit(original, options, notes)? else {
        return Ok((reader::read(original, columns)?.bag, None));
    };
    let rows = counted::read(original, columns, Some(&unit))?.bag;
    let ours: Vec<usize> = (0..columns.len()).collect();
    let bag = pool::run("reporting", rows.memory(), |watch| rows.project(&ours, watch))?;
    Ok((bag, Some(People { name: unit.name, unit: columns.len(), rows })))
}

/// The unit whose people are counted: that of the options, of a label, or of the original's protection.
fn unit(original: &Relation, options: &Options, notes: &mut Vec<String>) -> Result<Option<Unit>> {
    if options.unit.is_some() {
        return counted::unit(original, options.unit.as_deref());
    }
    if options.candidates.iter().all(|candidate| candidate.k().is_none()) {
        return Ok(None);
    }
    let said = options.candidates.iter().find_map(Candidate::unit);
    // The tables may have changed since the labels were made.
    let why = match counted::unit(original, said) {
        Ok(unit) => return Ok(unit),
        Err(Error::NoUnit { column, why, .. }) => format!("{column} cannot tell them apart. {why}"),
        Err(Error::NoSuchColumn { column, relation, .. }) => {
            format!("{relation} has no column {column}.")
        }
        Err(Error::UnitForbidden { unit, .. }) => format!("you may not read {unit}."),
        Err(Error::Argument { message, .. }) => format!("{message}."),
        Err(other) => return Err(other),
    };
    notes.push(format!("People are not counted: {why}"));
    Ok(None)
}
