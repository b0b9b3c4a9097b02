//! Sources in the codes of public domains: what private mechanisms read, and rows made of such codes.

use crate::pg::prelude::*;
use crate::pg::process::pool;
use crate::pg::read::reader;
use crate::pg::write::typed::{TextValues, Values};
use crate::rules::charged_rows::{self, Bound};
use crate::rules::public::{self, Public};
use random::{Coins, below};
use std::sync::Arc;
use table::{Bag, CodedTable, Domain, NONE, Recoding};

/// The largest domain of a column: its values are held in memory.
const MOST: usize = 1_000_000;

/// A column whose values are known without its rows.
pub struct PublicColumn {
    pub name: String,
    pub public: Public,
    /// NULL is one more value, after all others.
    pub nullable: bool,
}

impl PublicColumn {
    /// How many values it has without NULL.
    pub fn values(&self) -> usize {
        match &self.public {
            Public::Values(values) => values.len(),
            Public::Range { bins, .. } => bins.count() as usize,
        }
    }

    /// How many values it has, NULL included.
    pub fn size(&self) -> u32 {
        (self.values() + usize::from(self.nullable)) as u32
    }

    /// Its values as texts in code order; a bin has its number.
    fn domain(&self) -> Domain {
        let values = match &self.public {
            Public::Values(values) => values.iter().map(|value| text::from_utf8(value)).collect(),
            Public::Range { bins, .. } => (0..bins.count()).map(bin_text).collect(),
        };
        Domain::from_values(self.name.clone(), values)
    }
}

/// The number of a bin, so that texts ascend as numbers do.
fn bin_text(bin: u32) -> Vec<u8> {
    format!("{bin:07}").into_bytes()
}

/// A relation whose columns have public domains. Its rows have not been read yet.
pub struct PublicSource {
    pub relation: Relation,
    /// The positions of the columns in the relation.
    pub positions: Vec<usize>,
    pub columns: Vec<PublicColumn>,
    domains: Vec<Arc<Domain>>,
}

impl PublicSource {
    /// Finds the public domains of the columns. The error for missing ones shows how to declare them.
    pub fn open(relation: Relation, positions: Vec<usize>) -> Result<Self, Error> {
        let mut columns = Vec::with_capacity(positions.len());
        let mut missing = Vec::new();
        for &position in &positions {
            let column = &relation.columns[position];
            let mut public = match public::find(&relation, column) {
                // One error lists all missing declarations.
                Err(Error::NoDomain { mut columns, .. }) => {
                    missing.append(&mut columns);
                    continue;
                }
                found => found?,
            };
            if let Public::Values(values) = &mut public {
                // Codes are in the order of the bytes that are read.
                values.sort_by_cached_key(|value| text::from_utf8(value));
                values.dedup();
            }
            let forbidden = column.not_null
                || column.type_oid != column.base_type && types::forbids_null(column.type_oid)?;
            let public = PublicColumn { name: column.name.clone(), public, nullable: !forbidden };
            if public.values() > MOST {
                return Err(Error::argument(
                    format!("column \"{}\" has {} values", column.name, public.values()),
                    "A public domain has at most a million values or bins here: leave the column out, or declare fewer.",
                ));
            }
            columns.push(public);
        }
        if !missing.is_empty() {
            return Err(Error::NoDomain { columns: missing, relation: relation.name });
        }
        let domains = columns.iter().map(|column| Arc::new(column.domain())).collect();
        Ok(PublicSource { relation, positions, columns, domains })
    }

    /// How many values each column has, NULL included.
    pub fn sizes(&self) -> Vec<u32> {
        self.columns.iter().map(PublicColumn::size).collect()
    }

    /// The domains in whose codes [`PublicSource::read`] gives rows: values in C order, or numbers of bins.
    pub fn domains(&self) -> &[Arc<Domain>] {
        &self.domains
    }

    /// Reads the columns in codes of the values that the rows have, where they were charged for by the row.
    pub fn read_charged(&self, bound: Option<&Bound>) -> Result<CodedTable, Error> {
        charged_rows::read(&self.relation, &self.positions, bound, |c, quoted| {
            self.asked(c, quoted)
        })
    }

    /// Reads the columns, and after them the identity of the unit in column `unit`.
    pub fn read_with_unit(&self, unit: usize) -> Result<CodedTable, Error> {
        let asked = |column: usize, quoted: &str| self.asked(column, quoted);
        charged_rows::read_with_unit(&self.relation, &self.positions, unit, asked)
    }

    /// Reads the columns, and after them the columns `beside`, as they are; equal rows may stay apart.
    pub fn read_listed(&self, beside: &[usize]) -> Result<CodedTable, Error> {
        let positions: Vec<usize> = self.positions.iter().chain(beside).copied().collect();
        let asked = self.relation.asked_with(&positions, |c, quoted| self.asked(c, quoted));
        reader::read_listed(&self.relation, &asked)
    }

    /// The expression that is read instead of a column, if any: the number of its bin.
    fn asked(&self, column: usize, quoted: &str) -> Option<String> {
        match &self.columns.get(column)?.public {
            Public::Values(_) => None,
            Public::Range { bins, .. } => Some(bins.expression(quoted)),
        }
    }

    /// Translates codes of a bag to codes of the public domains. A value outside its domain becomes NULL or, in a
    /// NOT NULL column, a value that is drawn from the domain. Either way the result depends on that value alone.
    pub fn recoding(&self, bag: &Bag, coins: &mut Coins) -> Recoding {
        let mut recoding = Recoding { codes: Vec::new(), nulls: Vec::new() };
        for (c, (column, domain)) in self.columns.iter().zip(&self.domains).enumerate() {
            let mut other = || match column.nullable {
                true => NONE,
                false => below(coins, domain.len() as u64) as u32,
            };
            let code = |value: &[u8]| match column.public {
                Public::Values(_) => domain.find(value),
                Public::Range { .. } => {
                    std::str::from_utf8(value).ok().and_then(|bin| bin.parse().ok())
                }
            };
            let codes = bag.domain(c).values().map(|value| code(value).unwrap_or_else(&mut other));
            recoding.codes.push(codes.collect());
            recoding.nulls.push(other());
        }
        recoding
    }

    /// Reads the columns as rows of the public domains; [`NONE`] is NULL.
    pub fn read(&self, coins: &mut Coins) -> Result<Bag, Error> {
        let table = self.read_charged(None)?;
        let recoding = self.recoding(&table.bag, coins);
        pool::run("mapping values", table.memory(), |watch| {
            table.bag.recoded(&recoding, self.domains.clone(), watch)
        })
    }

    /// The values of rows in the codes of the public domains, for rows of the relation's type.
    pub fn made_values<'a>(&'a self, coins: &'a mut Coins) -> PublicValues<'a> {
        PublicValues::new(&self.columns, &self.relation, &self.positions, coins)
    }
}

/// Values by public codes. For a bin, a value is drawn for every row.
pub struct PublicValues<'a> {
    texts: TextValues<'a>,
    columns: &'a [PublicColumn],
    coins: &'a mut Coins,
}

impl<'a> PublicValues<'a> {
    /// Column `c` is for column `positions[c]` of the relation.
    pub fn new(
        columns: &'a [PublicColumn],
        relation: &Relation,
        positions: &[usize],
        coins: &'a mut Coins,
    ) -> Self {
        let texts = |column: &'a PublicColumn| match &column.public {
            Public::Values(values) => values.iter().map(String::as_str).collect(),
            Public::Range { .. } => Vec::new(),
        };
        let texts = columns.iter().map(texts).collect();
        PublicValues { texts: TextValues::new(texts, relation, positions), columns, coins }
    }
}

impl Values for PublicValues<'_> {
    fn count(&self, column: usize) -> usize {
        match self.columns[column].public {
            Public::Values(_) => self.texts.count(column),
            // No value is made once for all rows.
            Public::Range { .. } => usize::MAX,
        }
    }

    fn datum(&mut self, column: usize, code: u32) -> Datum {
        match &self.columns[column].public {
            Public::Values(_) => self.texts.datum(column, code),
            Public::Range { bins, .. } => bins.draw(code, self.coins),
        }
    }
}
