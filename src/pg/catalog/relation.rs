//! A relation by its OID: its name, its columns, and queries for them.

use crate::pg::call::sql::{self, number, oid};
use crate::pg::prelude::*;
use crate::pg::shards::foreign_tables::Reading;
use crate::pg::shards::partitions::inheritors;
use crate::pg::shards::travel::Way;
use pgrx::PgTupleDesc;
use std::ffi::{CStr, CString};
use std::sync::Arc;

/// A column that exists (dropped ones do not).
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    /// Its position in the relation's descriptor, which counts dropped columns too.
    pub attribute: usize,
    pub type_oid: Oid,
    pub typmod: i32,
    /// The name in the database's encoding, as the catalog has it.
    catalog_name: CString,
    /// Its type; for a domain its base type.
    pub base_type: Oid,
    pub number: i16,
    pub not_null: bool,
    /// The range type in which a release shows its values, if it does.
    pub range: Option<Oid>,
}

impl Column {
    /// The type in which its values are shown, and its modifier.
    pub fn shown_type(&self) -> (Oid, i32) {
        self.range.map_or((self.type_oid, self.typmod), |range| (range, -1))
    }

    /// The name, quoted by Postgres itself where needed.
    pub fn quoted(&self) -> String {
        text::quoted(&self.catalog_name)
    }
}

/// A relation with rows to read.
#[derive(Clone)]
pub struct Relation {
    pub oid: Oid,
    /// Its name for messages, qualified where needed and quoted.
    pub name: String,
    from: CString,
    pub columns: Vec<Column>,
    /// A table of this server or a materialized view, without tables that inherit from it.
    pub is_plain_table: bool,
    /// The column of the result with the number of the row's leaf, if that is wanted.
    pub leaf: Option<Column>,
    /// How its rows are read; clones share it.
    reading: Arc<Reading>,
}

/// What can be read as rows.
const READABLE: [u8; 5] = [
    pg_sys::RELKIND_RELATION,
    pg_sys::RELKIND_VIEW,
    pg_sys::RELKIND_MATVIEW,
    pg_sys::RELKIND_PARTITIONED_TABLE,
    pg_sys::RELKIND_FOREIGN_TABLE,
];

impl Relation {
    /// Looks the relation up and locks it for reading until the transaction ends.
    pub fn open(oid: Oid) -> Result<Self, Error> {
        let (relation, readable) = Relation::look_up(oid, pg_sys::NoLock)?;
        if readable { Ok(relation) } else { Err(Error::NotReadable { relation: relation.name }) }
    }

    /// Looks the relation up for its row type alone: it may be a composite type, nothing is read
    /// of it, and it is not locked for longer than that takes.
    pub fn row_type(oid: Oid) -> Result<Self, Error> {
        Ok(Relation::look_up(oid, pg_sys::AccessShareLock)?.0)
    }

    /// The relation, and whether it has rows; `released` is the lock that is released.
    fn look_up(oid: Oid, released: u32) -> Result<(Self, bool), Error> {
        // SAFETY: the relation is open, and so its descriptor valid, until relation_close; what
        // is kept of it is copied before.
        unsafe {
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            let opened = pg_sys::try_relation_open(oid, lock);
            if opened.is_null() {
                return Err(Error::NoSuchRelation {
                    relation: format!("with OID {}", oid.to_u32()),
                });
            }
            let form = &*(*opened).rd_rel;
            let relname = form.relname.data.as_ptr();
            let namespace = pg_sys::get_namespace_name(form.relnamespace);
            let readable = READABLE.contains(&(form.relkind as u8));
            let is_plain_table = [pg_sys::RELKIND_RELATION, pg_sys::RELKIND_MATVIEW]
                .contains(&(form.relkind as u8))
                && !form.relhassubclass;
            let qualified = pg_sys::quote_qualified_identifier(namespace, relname);
            let from = CStr::from_ptr(qualified).to_owned();
            let name = if pg_sys::RelationIsVisible(oid) {
                text::quoted(CStr::from_ptr(relname))
            } else {
                text::to_utf8(from.to_bytes())
            };
            let columns = PgTupleDesc::from_pg_copy((*opened).rd_att)
                .iter()
                .enumerate()
                .filter(|(_, description)| !description.attisdropped)
                .map(|(attribute, description)| {
                    let catalog_name = CStr::from_ptr(description.attname.data.as_ptr()).to_owned();
                    let name = text::to_utf8(catalog_name.to_bytes());
                    Column {
                        name,
                        attribute,
                        type_oid: description.atttypid,
                        typmod: description.atttypmod,
                        catalog_name,
                        base_type: pg_sys::getBaseType(description.atttypid),
                        number: description.attnum,
                        not_null: description.attnotnull,
                        range: None,
                    }
                })
                .collect();
            pg_sys::relation_close(opened, released as pg_sys::LOCKMODE);
            let (leaf, reading) = (None, Arc::default());
            Ok((Relation { oid, name, from, columns, is_plain_table, leaf, reading }, readable))
        }
    }

    /// Raises the errors that a query for the given columns would raise before it reads a row, for example on rights or
    /// connections to other servers. No row is read; the subquery keeps the LIMIT from being sent to such a server.
    pub fn check_readable(&self, columns: impl Iterator<Item = usize>) -> Result<(), Error> {
        let names: Vec<String> = columns.map(|column| self.columns[column].quoted()).collect();
        let query = format!(
            "SELECT FROM (SELECT {} FROM {} OFFSET 0) AS whole LIMIT 0",
            names.join(", "),
            self.from()
        );
        sql::rows::<0>(&query, &[]).map(drop)
    }

    /// A request for the given columns.
    pub fn asked(&self, columns: &[usize]) -> Asked {
        self.asked_with(columns, |_, _| None)
    }

    /// As [`Relation::asked`], where `expression` may replace a column; it receives the column's place among `columns`
    /// and its quoted name.
    pub fn asked_with(
        &self,
        columns: &[usize],
        expression: impl Fn(usize, &str) -> Option<String>,
    ) -> Asked {
        let term = |(i, &column): (usize, &usize)| {
            let column = &self.columns[column];
            // SAFETY: quote_identifier reads a C string and returns it or a palloc'd copy.
            let quoted =
                unsafe { CStr::from_ptr(pg_sys::quote_identifier(column.catalog_name.as_ptr())) };
            let quoted = quoted.to_bytes().to_vec();
            let expression = expression(i, &column.quoted());
            let text = match &expression {
                Some(made) => format!("({made})::pg_catalog.text"),
                None => types::text_expression(column.base_type, &column.quoted()),
            };
            Term {
                column: column.catalog_name.clone(),
                expression: expression.map_or(quoted.clone(), |made| text::from_utf8(&made)),
                quoted,
                text: text::from_utf8(&text),
            }
        };
        let terms = columns.iter().enumerate().map(term).collect();
        let (from, reading) = (self.from.to_bytes().to_vec(), self.reading.clone());
        Asked { relation: self.oid, terms, from, is_joined: false, reading }
    }

    /// A request for the given columns, and after them a value of relations that are joined to this one.
    pub fn asked_joined(&self, columns: &[usize], joined: &Joined) -> Asked {
        let mut asked = self.asked(columns);
        let expression = text::from_utf8(&joined.value);
        asked.terms.push(Term {
            column: joined.column.catalog_name.clone(),
            quoted: text::from_utf8(&joined.column.quoted()),
            text: expression.clone(),
            expression,
        });
        asked.from = text::from_utf8(&joined.from);
        asked.is_joined = true;
        asked
    }

    /// How rows from other servers were read, if there were any.
    pub fn was_read(&self) -> Option<String> {
        self.reading.told()
    }

    /// Sets the types in which its rows are returned: for each column its own type or a range type. With `leaf`, a last
    /// column of that name has the number of the row's leaf.
    pub fn shown_as(&mut self, types: impl Iterator<Item = Oid>, leaf: Option<&str>) {
        for (attribute, (column, shown)) in self.columns.iter_mut().zip(types).enumerate() {
            column.attribute = attribute;
            column.range = (shown != column.type_oid).then_some(shown);
        }
        self.leaf = leaf.map(|name| Column {
            name: name.into(),
            attribute: self.columns.len(),
            type_oid: pg_sys::TEXTOID,
            typmod: -1,
            catalog_name: c_string(text::from_utf8(name)),
            base_type: pg_sys::TEXTOID,
            number: 0,
            not_null: false,
            range: None,
        });
    }

    /// Its name for a query, qualified and quoted.
    pub fn from(&self) -> String {
        text::to_utf8(self.from.to_bytes())
    }

    /// As [`Relation::from`], but without inheriting tables, unless it is partitioned: then its rows are in the
    /// partitions.
    pub fn only_from(&self) -> String {
        match self.is_partitioned() {
            true => self.from(),
            false => format!("ONLY {}", self.from()),
        }
    }

    /// The position of a column.
    pub fn position(&self, name: &str) -> Result<usize, Error> {
        position(&self.name, &self.names(), name)
    }

    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// True if no two rows that the caller's snapshot shows have the same value in the column and none has NULL,
    /// by the schema: a unique index on the column alone, without a condition, checked at once, and by an
    /// equality of Postgres itself.
    ///
    /// The catalog is read as data: Postgres' own functions evaluate constant parts of an index's condition, which the
    /// table's owner wrote, with the caller's rights. The catalog is read twice, and the same index must exist both
    /// times, for the table and for each of its partitions:
    ///
    /// * in the snapshot in which rows are read: an index that was created later says nothing about rows that were
    ///   deleted before its creation and that the snapshot still shows. The same holds for a partition that was
    ///   attached later: which partitions are read follows from the current catalog;
    /// * in its current state, under locks that keep it: an index that was dropped says nothing about rows that COPY
    ///   has frozen since, which every snapshot shows, and one that was rebuilt for another type of the column says
    ///   nothing about older rows.
    ///
    /// A transaction with a fixed snapshot may have inserted rows with the keys of rows that others have deleted and
    /// that its snapshot still shows: if it may have written, no column counts as a key.
    pub fn is_key(&self, column: &Column) -> Result<bool, Error> {
        // An index holds for its own table, not for tables that inherit from it.
        if !column.not_null || !(self.is_plain_table || self.is_partitioned()) {
            return Ok(false);
        }
        let parts = inheritors(self.oid);
        if rights::has_fixed_snapshot() && parts.iter().any(|&part| may_have_written(part)) {
            return Ok(false);
        }
        let arguments = [self.oid.into(), Text(column.name.clone()).into()];
        let then: Vec<[_; 4]> = sql::rows(KEYS, &arguments)?;
        let now = sql::latest_rows(KEYS, &arguments)?;
        let is_keyed = |relation: &Option<String>| {
            then.iter().any(|key| key[0] == *relation && key[1].is_some() && now.contains(key))
        };
        Ok(then.iter().chain(&now).all(|key| is_keyed(&key[0])))
    }

    /// True for a partitioned table.
    pub fn is_partitioned(&self) -> bool {
        is_partitioned(self.oid)
    }

    /// The relations, each with the number of its column, that foreign keys of this column alone refer to.
    pub fn refers_to(&self, column: &Column) -> Result<Vec<(Oid, i16)>, Error> {
        let found = sql::rows(
            "SELECT confrelid::pg_catalog.text, confkey[1]::pg_catalog.text
               FROM pg_catalog.pg_constraint
              WHERE contype OPERATOR(pg_catalog.=) 'f' AND convalidated
                AND conrelid OPERATOR(pg_catalog.=) $1 AND conkey OPERATOR(pg_catalog.=) ARRAY[$2]
              ORDER BY conname",
            &[self.oid.into(), column.number.into()],
        )?;
        found.iter().map(|[relation, column]| Ok((oid(relation)?, number(column)?))).collect()
    }

    /// The collation of a column, invalid if its type has none.
    pub fn collation(&self, column: &Column) -> Oid {
        let (mut type_oid, mut typmod) = (pg_sys::InvalidOid, 0);
        let mut collation = pg_sys::InvalidOid;
        // SAFETY: a catalog look-up of a column that exists, as the relation is locked by `open`.
        unsafe {
            pg_sys::get_atttypetypmodcoll(
                self.oid,
                column.number,
                &mut type_oid,
                &mut typmod,
                &mut collation,
            );
        }
        collation
    }

    /// True if texts of the column that differ may be equal.
    pub fn compares_loosely(&self, column: &Column) -> bool {
        let collation = self.collation(column);
        // SAFETY: a catalog look-up of a collation that exists.
        collation != pg_sys::InvalidOid
            && unsafe { !pg_sys::get_collation_isdeterministic(collation) }
    }

    /// Its unqualified name, as the catalog has it.
    pub fn own_name(&self) -> Option<String> {
        // SAFETY: returns null or a palloc'd C string.
        unsafe { text::of_c(pg_sys::get_rel_name(self.oid)) }
    }

    /// The name of its schema, as the catalog has it.
    pub fn schema(&self) -> Option<String> {
        // SAFETY: returns null or a palloc'd C string.
        unsafe { text::of_c(pg_sys::get_namespace_name(pg_sys::get_rel_namespace(self.oid))) }
    }

    /// True if no other session can read it.
    pub fn is_temporary(&self) -> bool {
        // SAFETY: a catalog look-up of a relation that exists.
        let persistence = unsafe { pg_sys::get_rel_persistence(self.oid) };
        persistence as u8 == pg_sys::RELPERSISTENCE_TEMP
    }

    /// The positions of the named columns (all if `None`), in the relation's order.
    pub fn positions(
        &self,
        argument: &'static str,
        names: Option<&[String]>,
    ) -> Result<Vec<usize>, Error> {
        if self.columns.is_empty() {
            return Err(Error::Empty { relation: self.name.clone(), of: "columns" });
        }
        positions(&self.name, &self.names(), argument, names)
    }
}

/// The relation and its partitions, each with every index that makes the column of this name its key, or with NULL; and
/// its partition bound, because an index on partitions proves a key only if their values differ. From PostgreSQL 18 on
/// NOT NULL may be NOT VALID: older rows may have NULL.
const KEYS: &str = "WITH tree AS (
        SELECT $1 AS relid
         UNION SELECT relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree($1))
    SELECT tree.relid::pg_catalog.text, keyed.indexrelid::pg_catalog.text,
           h.inhparent::pg_catalog.text, c.relpartbound::pg_catalog.text
      FROM tree
      LEFT JOIN (pg_catalog.pg_inherits AS h
                 JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) h.inhrelid)
        ON h.inhrelid OPERATOR(pg_catalog.=) tree.relid AND tree.relid OPERATOR(pg_catalog.<>) $1
      LEFT JOIN LATERAL (
        SELECT i.indexrelid FROM pg_catalog.pg_index AS i
          JOIN pg_catalog.pg_opclass AS o ON o.oid OPERATOR(pg_catalog.=) i.indclass[0]
          JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid
           AND a.attnum OPERATOR(pg_catalog.=) i.indkey[0]
         WHERE i.indrelid OPERATOR(pg_catalog.=) tree.relid
           AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL
           AND i.indnkeyatts OPERATOR(pg_catalog.=) 1
           AND o.oid OPERATOR(pg_catalog.<) 16384 AND a.attnotnull
           AND NOT EXISTS (
                SELECT FROM pg_catalog.pg_constraint AS n
                 WHERE n.conrelid OPERATOR(pg_catalog.=) i.indrelid AND n.contype OPERATOR(pg_catalog.=) 'n'
                   AND n.conkey[1] OPERATOR(pg_catalog.=) a.attnum AND NOT n.convalidated)
           AND a.attname OPERATOR(pg_catalog.=) $2::pg_catalog.name) AS keyed ON true";

/// Relations joined to one that is read, such that each of its rows stays one row, and a value that is theirs. All is
/// text of quoted names.
pub struct Joined {
    /// What stands after FROM.
    pub from: String,
    /// The column that the value is made of.
    pub column: Column,
    /// The value, as an expression.
    pub value: String,
}

/// The values requested from each row of a relation: columns, or expressions over single columns. Every identifier is
/// quoted by Postgres itself and the relation qualified, so that neither a name nor the search path can change its
/// meaning. All is in the database's encoding.
pub struct Asked {
    pub relation: Oid,
    terms: Vec<Term>,
    from: Vec<u8>,
    /// Other relations are joined to it, so that its leaves cannot be asked one by one.
    pub is_joined: bool,
    /// How the relation is read.
    pub reading: Arc<Reading>,
}

struct Term {
    /// The column as the catalog has it.
    column: CString,
    quoted: Vec<u8>,
    expression: Vec<u8>,
    /// The same as text.
    text: Vec<u8>,
}

impl Asked {
    /// `SELECT … FROM …`.
    pub fn query(&self) -> CString {
        self.query_from(&[(b"", &self.from)])
    }

    /// The same query over other relations with these columns, combined by UNION ALL, each with further terms.
    pub fn query_from(&self, relations: &[(&[u8], &[u8])]) -> CString {
        let mut query = Vec::new();
        for (i, (further, from)) in relations.iter().enumerate() {
            query.extend_from_slice(if i == 0 { b"SELECT " } else { b" UNION ALL SELECT " });
            for (i, term) in self.terms.iter().enumerate() {
                if i > 0 {
                    query.extend_from_slice(b", ");
                }
                if term.expression != term.quoted {
                    query.extend_from_slice(&term.expression);
                    query.extend_from_slice(b" AS ");
                }
                query.extend_from_slice(&term.quoted);
            }
            query.extend_from_slice(further);
            query.extend_from_slice(b" FROM ");
            query.extend_from_slice(from);
        }
        c_string(query)
    }

    /// How the relation is named in a query.
    pub fn from(&self) -> &[u8] {
        &self.from
    }

    /// How many columns are asked for.
    pub fn width(&self) -> usize {
        self.terms.len()
    }

    /// The names of the columns in bags that are sent, as a list.
    pub fn numbered(&self) -> String {
        let names: Vec<String> = (1..=self.width()).map(|i| format!("f{i}")).collect();
        names.join(",")
    }

    /// The names of the columns as the catalog has them.
    pub fn columns(&self) -> impl Iterator<Item = &CStr> {
        self.terms.iter().map(|term| term.column.as_c_str())
    }

    /// The requested values as arguments of an aggregate, each in the form in which it is sent.
    pub fn expressions(&self, ways: &[Way]) -> Vec<u8> {
        let terms = self.terms.iter().zip(ways);
        let asked: Vec<Vec<u8>> = terms.map(|(term, way)| way.asked(&term.expression)).collect();
        asked.join(&b", "[..])
    }

    /// The same as texts.
    pub fn texts(&self, ways: &[Way]) -> Vec<u8> {
        let text = |(term, way): (&Term, &Way)| match way {
            Way::Text => term.text.clone(),
            Way::Sent(_) => way.asked(&term.expression),
        };
        let texts: Vec<Vec<u8>> = self.terms.iter().zip(ways).map(text).collect();
        texts.join(&b", "[..])
    }
}

/// True for a partitioned table.
pub fn is_partitioned(table: Oid) -> bool {
    // SAFETY: a catalog look-up.
    unsafe { pg_sys::get_rel_relkind(table) as u8 == pg_sys::RELKIND_PARTITIONED_TABLE }
}

/// Locks a relation for reading until the transaction ends if that is possible without waiting; true if it is locked.
pub fn try_lock(relation: Oid) -> bool {
    // SAFETY: takes a lock that the end of the transaction gives back.
    unsafe {
        let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        pg_sys::ConditionalLockRelationOid(relation, lock)
    }
}

/// As [`try_lock`], and waits.
pub fn lock(relation: Oid) {
    // SAFETY: takes a lock that the end of the transaction gives back; the relation may be gone by then.
    unsafe { pg_sys::LockRelationOid(relation, pg_sys::AccessShareLock as pg_sys::LOCKMODE) };
}

/// True if this transaction may have written rows of the relation: it has a lock that writers take.
fn may_have_written(relation: Oid) -> bool {
    // SAFETY: the relation is open from try_relation_open to relation_close.
    unsafe {
        let reading = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        let opened = pg_sys::try_relation_open(relation, reading);
        if opened.is_null() {
            return false;
        }
        let writing = pg_sys::RowExclusiveLock as pg_sys::LOCKMODE;
        let held = pg_sys::CheckRelationLockedByMe(opened, writing, true);
        pg_sys::relation_close(opened, reading);
        held
    }
}

/// A query made of C strings and constants, which have no zero byte.
pub fn c_string(query: Vec<u8>) -> CString {
    CString::new(query).unwrap_or_default()
}

/// The position of a column among those that exist.
fn position(relation: &str, existing: &[&str], name: &str) -> Result<usize, Error> {
    existing.iter().position(|&one| one == name).ok_or_else(|| Error::NoSuchColumn {
        column: name.to_string(),
        relation: relation.to_string(),
        columns: existing.join(", "),
    })
}

/// The positions of `names` (all if `None`) among the `existing` columns, ascending.
pub fn positions(
    relation: &str,
    existing: &[&str],
    argument: &'static str,
    names: Option<&[String]>,
) -> Result<Vec<usize>, Error> {
    let Some(names) = names else {
        return Ok((0..existing.len()).collect());
    };
    let mut positions = Vec::with_capacity(names.len());
    for name in names {
        let position = position(relation, existing, name)?;
        if positions.contains(&position) {
            return Err(Error::argument(
                format!("{argument} names column \"{name}\" twice"),
                "Name every column once.",
            ));
        }
        positions.push(position);
    }
    positions.sort_unstable();
    Ok(positions)
}
