//! Sources whose rows come back with their own type, and the released rows.

use crate::api::prelude::*;
use crate::api::release::hierarchy;
use crate::api::release::levels::{self, Levels};
use crate::catalog::domains;
use crate::pg::catalog::keys;
use crate::pg::write::range;
use crate::pg::write::typed::{ShownValues, TextValues};
use crate::rules::charged_rows::{self, Bound};
use crate::rules::public;
use std::collections::HashSet;
use table::{CodedTable, ColumnPart, Release};

/// Which columns of a relation take part in a call (NULL: all that are not kept, without the unit), and which come back
/// as they are.
pub fn chosen(
    call: &ReleaseCall<'_>,
    relation: &Relation,
    unit: Option<&Unit>,
) -> Result<(Vec<usize>, Vec<usize>)> {
    let (names, kept_names) = (call.get(&COLUMNS)?, call.get(&KEEP)?);
    let keep = match &kept_names {
        Some(names) => relation.positions("keep", Some(names))?,
        None => Vec::new(),
    };
    let mut columns = counted::columns(relation, unit, names.as_deref())?;
    if names.is_none() {
        columns.retain(|position| !keep.contains(position));
    } else if let Some(both) = columns.iter().find(|position| keep.contains(position)) {
        return Err(Error::argument(
            format!("column \"{}\" is in columns and in keep", relation.columns[*both].name),
            "A column is either protected (columns) or returned as it is (keep).",
        ));
    }
    if columns.is_empty() {
        return Err(Error::argument(
            "no column is left to protect: all are in keep",
            "Keep fewer columns.",
        ));
    }
    Ok((columns, keep))
}

/// Why the schema makes a column identify rows by itself, if it does.
fn identifying(relation: &Relation, position: usize) -> Result<Option<&'static str>> {
    let column = &relation.columns[position];
    if types::holds_documents(column.base_type) {
        return Ok(Some("which holds json or xml"));
    }
    let unique = keys::unique_columns(relation.oid)?;
    let is_key = unique.iter().any(|one| one.is_alone && one.column == column.number);
    Ok(is_key.then_some("which is a key"))
}

/// True if more than nine in ten of the rows with a value have one that no other row has, or if a value has no more than
/// two rows on average.
fn is_nearly_unique(bag: &Bag, column: usize) -> bool {
    let mut counts = vec![0u64; bag.domain(column).len()];
    for i in 0..bag.distinct() {
        if let Some(count) = counts.get_mut(bag.row(i)[column] as usize) {
            *count += bag.weight(i);
        }
    }
    let alone = counts.iter().filter(|&&count| count == 1).count() as u64;
    let values = counts.iter().filter(|&&count| count > 0).count() as u64;
    let rows = counts.iter().sum::<u64>();
    10 * alone > 9 * rows || (values > FEW && 2 * values >= rows)
}

/// With up to this number of values a column does not identify rows: in a small table each value simply has few rows.
const FEW: u64 = 10;

fn refuse_identifying(sensitive: &str, what: &str) -> Error {
    Error::argument(
        format!("sensitive is \"{sensitive}\", {what}"),
        "It comes back as it is, and its values tell rows apart whatever their class is. Leave it out, or name it in keep as well if everybody may see it.",
    )
}

/// The values that the public domains of columns have.
pub struct PublicDomains(Vec<HashSet<Vec<u8>>>);

impl PublicDomains {
    /// The public domains of these columns, each of which must have one.
    pub fn of(relation: &Relation, columns: &[usize]) -> Result<Self> {
        let (mut found, mut missing) = (Vec::with_capacity(columns.len()), Vec::new());
        for column in columns.iter().map(|&position| &relation.columns[position]) {
            let Some(public) = domains::find(relation, column)? else {
                missing.push(public::undeclared(relation, column, false)?);
                continue;
            };
            found.push(public.values.iter().map(|value| from_utf8(value)).collect());
        }
        if !missing.is_empty() {
            return Err(Error::NoDomain { columns: missing, relation: relation.name.clone() });
        }
        Ok(PublicDomains(found))
    }
}

/// The columns of another relation that have the names of these.
pub fn same_columns(relation: &Relation, columns: &[usize], other: Oid) -> Result<Bag> {
    let other = Relation::open(other)?;
    let mut positions = Vec::with_capacity(columns.len());
    for &position in columns {
        let name = relation.columns[position].name.clone();
        positions.extend(other.positions("columns", Some(&[name]))?);
    }
    Ok(reader::read(&other, &positions)?.bag)
}

/// A relation that is read: the columns that take part, then those that are kept as they are.
pub struct TypedSource {
    relation: Relation,
    columns: Vec<usize>,
    table: CodedTable,
    /// The columns that take part, if they are not the whole table as it was read; with the units of their rows, if
    /// people count: then the unit is the table's last column, which is in none of the lists above.
    part: Option<ColumnPart>,
}

impl TypedSource {
    /// Reads the source of the call: the columns that take part (NULL: all that are
    /// not kept), and those that come back as they are.
    pub fn read(call: &ReleaseCall<'_>) -> Result<Self> {
        let relation = call.source()?;
        let unit = counted_unit(call.arguments, &relation)?;
        let (columns, keep) = chosen(call, &relation, unit.as_ref())?;
        TypedSource::read_columns(relation, columns, keep, unit.as_ref())
    }

    /// As [`TypedSource::read`], with a sensitive column that comes back as it is: it is the last of those
    /// that take part.
    pub fn read_with_sensitive(call: &ReleaseCall<'_>, sensitive: &str) -> Result<Self> {
        let relation = call.source()?;
        let position = relation.positions("sensitive", Some(&[sensitive.to_string()]))?[0];
        let unit = counted_unit(call.arguments, &relation)?;
        let (mut columns, mut keep) = chosen(call, &relation, unit.as_ref())?;
        if unit.as_ref().is_some_and(|unit| unit.is(position)) {
            return Err(counted::takes_no_part("sensitive", sensitive));
        }
        if call.get(&COLUMNS)?.is_some() && columns.contains(&position) {
            return Err(Error::argument(
                format!("column \"{sensitive}\" is in columns and sensitive"),
                "A sensitive column comes back as it is; classes are made of the other columns.",
            ));
        }
        let is_kept = keep.contains(&position);
        if !is_kept && let Some(what) = identifying(&relation, position)? {
            return Err(refuse_identifying(sensitive, what));
        }
        columns.retain(|&column| column != position);
        keep.retain(|&column| column != position);
        if columns.is_empty() {
            return Err(Error::argument(
                "no column is left to protect beside the sensitive one",
                "Keep fewer columns.",
            ));
        }
        columns.push(position);
        let place = columns.len() - 1;
        let source = TypedSource::read_columns(relation, columns, keep, unit.as_ref())?;
        if !is_kept && is_nearly_unique(&source.table.bag, place) {
            return Err(refuse_identifying(sensitive, "which is nearly unique"));
        }
        Ok(source)
    }

    /// Reads these columns, which were charged for if there is a bound. Nothing is kept as it is, because the relation
    /// may be protected.
    pub fn read_charged(
        relation: Relation,
        columns: Vec<usize>,
        keep: Vec<usize>,
        bound: Option<&Bound>,
    ) -> Result<Self> {
        if bound.is_none() {
            return TypedSource::read_columns(relation, columns, keep, None);
        }
        let table = charged_rows::read(&relation, &columns, bound, |_, _| None)?;
        Ok(TypedSource { relation, columns, table, part: None })
    }

    /// Reads all columns of the relation.
    pub fn read_all(relation: Relation) -> Result<Self> {
        let columns = relation.positions("columns", None)?;
        TypedSource::read_columns(relation, columns, Vec::new(), None)
    }

    /// Reads the columns that take part and those that are kept, and whose rows they are if people count.
    pub fn read_columns(
        mut relation: Relation,
        mut columns: Vec<usize>,
        keep: Vec<usize>,
        unit: Option<&Unit>,
    ) -> Result<Self> {
        let width = columns.len();
        columns.extend(keep);
        let leaf = relation.leaf.take();
        let asked = counted::asked(&relation, &columns, unit);
        let unit = unit.map(|_| columns.len());
        let mut table = match leaf {
            None => reader::read_asked(&relation, &asked, 0)?,
            Some(leaf) => {
                // The number of the leaf is kept, so that each released row can go to the leaf of its original.
                let (table, _) = reader::read_by_shard(&asked)?.ok_or(Error::Swapped)?;
                columns.push(relation.columns.len());
                relation.columns.push(leaf);
                table
            }
        };
        if let Some(unit) = unit.filter(|&unit| unit < columns.len()) {
            table = pool::run("counting people", table.memory(), move |watch| {
                table.with_last(unit, watch)
            })?;
        }
        let mut source = TypedSource { relation, columns, table, part: None };
        if unit.is_some() || width < source.columns.len() {
            let part = source.run("choosing columns", |table, _, watch| match unit {
                Some(_) => ColumnPart::with_units(table, width, watch),
                None => ColumnPart::new(table, width, watch),
            })?;
            source.part = Some(part);
        }
        Ok(source)
    }

    /// The relation's name, for messages.
    pub fn name(&self) -> &str {
        &self.relation.name
    }

    /// The columns that take part; equal rows are merged.
    pub fn bag(&self) -> &Bag {
        self.part.as_ref().map_or(&self.table.bag, |part| &part.bag)
    }

    /// The bytes held.
    fn memory(&self) -> u64 {
        self.table.memory() + self.part.as_ref().map_or(0, ColumnPart::memory)
    }

    /// Runs work on the columns that take part in the pool.
    pub fn run<T: Send, E: Into<Error> + Send>(
        &self,
        phase: &'static str,
        job: impl FnOnce(&Bag, Option<&Units>, &Watch) -> Result<T, E> + Send,
    ) -> Result<T> {
        let bag = self.bag();
        let units = self.part.as_ref().and_then(|part| part.units.as_ref());
        pool::run(phase, self.memory(), |watch| job(bag, units, watch))
    }

    /// Refuses a relation without rows.
    pub fn with_rows(self) -> Result<Self> {
        if self.table.bag.row_count() == 0 {
            return Err(Error::Empty { relation: self.relation.name, of: "rows" });
        }
        Ok(self)
    }

    /// Maps every value that the public domain of its column does not have to NULL.
    pub fn within(mut self, public: &PublicDomains) -> Result<Self> {
        let known = |(column, values): (usize, &HashSet<Vec<u8>>)| {
            let domain = self.table.bag.domain(column);
            domain.values().map(|value| values.contains(value)).collect()
        };
        let known: Vec<Vec<bool>> = public.0.iter().enumerate().map(known).collect();
        self.part = None;
        let part = self
            .run("mapping values", |table, _, watch| ColumnPart::of_known(table, &known, watch))?;
        self.part = Some(part);
        Ok(self)
    }

    /// The hierarchies of the first columns that take part: the declared ones, or proposed ones where
    /// nothing is declared.
    pub fn hierarchies(&self, width: usize) -> Result<Vec<Hierarchy>> {
        hierarchy::of_columns(&self.relation, &self.columns, &self.bag().domains()[..width])
    }

    /// The declared hierarchies of the columns that take part, and the levels that are wanted of them.
    pub fn levels(&self, named: &levels::Named) -> Result<Levels> {
        Levels::new(named, &self.relation, &self.columns, self.bag())
    }

    /// Returns the released rows with the relation's type.
    pub fn release(self, rows: &mut ResultRows, release: Release) -> Result<()> {
        self.release_shown(rows, release, &[])
    }

    /// The values of a column that are shown as texts: the general values; in a range type all other values too, before
    /// them.
    fn shown_texts(&self, column: usize, hierarchies: &[Hierarchy]) -> Vec<String> {
        let single = |range| {
            let values = self.table.bag.domain(column).values();
            values.map(move |value| range::single(range, &to_utf8(value)))
        };
        let read = self.relation.columns[self.columns[column]].range.map(single);
        let general = hierarchies.get(column).map(Hierarchy::texts).into_iter().flatten();
        read.into_iter().flatten().chain(general.map(|general| to_utf8(general))).collect()
    }

    /// As [`TypedSource::release`], if the first columns may show general values of their hierarchies.
    pub fn release_shown(
        self,
        rows: &mut ResultRows,
        release: Release,
        hierarchies: &[Hierarchy],
    ) -> Result<()> {
        let TypedSource { relation, columns, table, part } = &self;
        let held = self.memory() + release.memory();
        let released = pool::run("releasing", held, move |watch| {
            release.rows(&table.bag, part.as_ref(), watch)
        })?;
        let texts: Vec<Vec<String>> =
            (0..columns.len()).map(|column| self.shown_texts(column, hierarchies)).collect();
        let texts = texts.iter().map(|texts| texts.iter().map(String::as_str).collect()).collect();
        let others = TextValues::new(texts, relation, columns);
        let read = ReadValues::new(table, relation, columns);
        let values = ShownValues::new(read, others, relation, columns);
        let mut rows = TypedRows::begin(rows, relation, columns, values)?;
        for i in 0..released.distinct() {
            rows.push(released.row(i), released.weight(i));
        }
        Ok(())
    }
}
