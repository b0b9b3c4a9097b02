//! Keys and the foreign keys that refer to them, from the catalog.

use crate::pg::call::sql::{self, number};
use crate::pg::prelude::*;

/// A column of a table, by their numbers in the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub table: Oid,
    pub column: i16,
}

/// A column of a foreign key, and the column that it refers to.
#[derive(Debug, Clone, Copy)]
pub struct Reference {
    pub from: Place,
    pub to: Place,
}

/// All foreign keys of the database, column by column. Those that partitions inherit from their parents are left out,
/// because the parents' are listed.
pub fn references() -> Result<Vec<Reference>, Error> {
    let rows = sql::latest_rows(
        "SELECT c.conrelid::pg_catalog.int8::pg_catalog.text, k.own::pg_catalog.text,
                c.confrelid::pg_catalog.int8::pg_catalog.text, k.other::pg_catalog.text
           FROM pg_catalog.pg_constraint AS c
          CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(c.conkey), pg_catalog.unnest(c.confkey)) AS k(own, other)
          WHERE c.contype OPERATOR(pg_catalog.=) 'f' AND c.conparentid OPERATOR(pg_catalog.=) 0",
        &[],
    )?;
    let place = |table: &Option<String>, column: &Option<String>| {
        Ok::<_, Error>(Place { table: sql::oid(table)?, column: number(column)? })
    };
    let reference = |[table, column, other_table, other_column]: &[_; 4]| {
        Ok(Reference { from: place(table, column)?, to: place(other_table, other_column)? })
    };
    rows.iter().map(reference).collect()
}

/// A column of a unique index.
pub struct Unique {
    pub column: i16,
    pub is_primary: bool,
    /// A foreign key refers to the index.
    pub is_referred_to: bool,
    /// The index has this column alone.
    pub is_alone: bool,
    /// It compares as Postgres itself does, so no two rows have the same value.
    pub tells_apart: bool,
}

/// The columns of a table's unique indexes. Indexes with a condition and invalid ones are left out: rows may have equal
/// values in spite of them.
pub fn unique_columns(table: Oid) -> Result<Vec<Unique>, Error> {
    let rows = sql::latest_rows(
        "SELECT k.own::pg_catalog.text,
                i.indisprimary::pg_catalog.text,
                EXISTS (SELECT FROM pg_catalog.pg_constraint AS c
                    WHERE c.confrelid OPERATOR(pg_catalog.=) i.indrelid
                      AND c.contype OPERATOR(pg_catalog.=) 'f'
                      AND c.conindid OPERATOR(pg_catalog.=) i.indexrelid)::pg_catalog.text,
                (i.indnkeyatts OPERATOR(pg_catalog.=) 1)::pg_catalog.text,
                (i.indnkeyatts OPERATOR(pg_catalog.=) 1
                    AND i.indclass[0] OPERATOR(pg_catalog.<) 16384)::pg_catalog.text
           FROM pg_catalog.pg_index AS i
          CROSS JOIN LATERAL pg_catalog.unnest(
                (i.indkey::pg_catalog.int2[])[0:i.indnkeyatts OPERATOR(pg_catalog.-) 1]) AS k(own)
          WHERE i.indrelid OPERATOR(pg_catalog.=) $1 AND i.indisunique AND i.indisvalid
            AND i.indpred IS NULL AND k.own OPERATOR(pg_catalog.>) 0",
        &[table.into()],
    )?;
    let is = |text: &Option<String>| text.as_deref() == Some("true");
    let unique = |[column, is_primary, is_referred_to, is_alone, tells_apart]: &[_; 5]| {
        Ok(Unique {
            column: number(column)?,
            is_primary: is(is_primary),
            is_referred_to: is(is_referred_to),
            is_alone: is(is_alone),
            tells_apart: is(tells_apart),
        })
    };
    rows.iter().map(unique).collect()
}

/// The numbers of the columns that the table computes itself.
pub fn generated_columns(table: Oid) -> Result<Vec<i16>, Error> {
    let found = sql::latest_rows::<1>(
        "SELECT attnum::pg_catalog.text FROM pg_catalog.pg_attribute
          WHERE attrelid OPERATOR(pg_catalog.=) $1 AND attgenerated OPERATOR(pg_catalog.<>) ''",
        &[table.into()],
    )?;
    found.iter().flatten().map(number).collect()
}

/// A sequence that gives a column its values.
pub struct Sequence {
    /// Qualified and quoted.
    pub name: String,
    /// `None` if it has given none yet.
    pub last: Option<i64>,
    /// The largest value that it can give; `None` if it counts down.
    pub most: Option<i64>,
}

/// The sequences that belong to a column.
pub fn sequences(place: Place) -> Result<Vec<Sequence>, Error> {
    let rows = sql::latest_rows(
        "SELECT pg_catalog.format('%I.%I', n.nspname, c.relname),
                pg_catalog.pg_sequence_last_value(c.oid)::pg_catalog.text,
                CASE WHEN s.seqincrement OPERATOR(pg_catalog.>) 0 THEN s.seqmax END::pg_catalog.text
           FROM pg_catalog.pg_depend AS d
           JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) d.objid
           JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
           JOIN pg_catalog.pg_sequence AS s ON s.seqrelid OPERATOR(pg_catalog.=) c.oid
          WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
            AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
            AND d.refobjid OPERATOR(pg_catalog.=) $1 AND d.refobjsubid OPERATOR(pg_catalog.=) $2
            AND d.deptype OPERATOR(pg_catalog.=) ANY (ARRAY['a', 'i']::pg_catalog.\"char\"[])",
        &[place.table.into(), i32::from(place.column).into()],
    )?;
    let read = |text: &Option<String>| text.as_ref().map(|_| number(text)).transpose();
    let sequence = |[name, last, most]: [Option<String>; 3]| {
        let name = name.ok_or_else(|| Error::query("a sequence has no name"))?;
        Ok(Sequence { name, last: read(&last)?, most: read(&most)? })
    };
    rows.into_iter().map(sequence).collect()
}

/// The values of a column from which random ones can be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// Integers from minus this number to this number.
    Integer(i64),
    Uuid,
    /// Texts of at most this number of digits.
    Digits(u32),
}

/// The digits of the largest numbers that are drawn.
const MOST_DIGITS: u32 = 18;

impl Range {
    /// `None` for types that have no such values.
    pub fn of(relation: &Relation, column: &Column) -> Option<Self> {
        let mut typmod = column.typmod;
        // SAFETY: a look-up by type; a domain may say how long its texts are.
        let base = unsafe { pg_sys::getBaseTypeAndTypmod(column.type_oid, &mut typmod) };
        let modifier = (typmod >= 4).then(|| (typmod - 4) as u32);
        match base {
            pg_sys::INT2OID => Some(Range::Integer(i16::MAX.into())),
            pg_sys::INT4OID => Some(Range::Integer(i32::MAX.into())),
            pg_sys::INT8OID => Some(Range::Integer(i64::MAX)),
            pg_sys::NUMERICOID => {
                let digits = match modifier {
                    // Precision less scale, where the scale is a number of 11 bits with a sign.
                    Some(both) => {
                        let scale = ((both & 0x7ff) ^ 1024) as i32 - 1024;
                        u32::try_from((both >> 16) as i32 - scale.max(0)).ok()?
                    }
                    None => MOST_DIGITS,
                };
                let digits = digits.min(MOST_DIGITS);
                (digits > 0).then(|| Range::Integer(10i64.pow(digits) - 1))
            }
            pg_sys::UUIDOID => Some(Range::Uuid),
            pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID
                if !relation.compares_loosely(column) =>
            {
                Some(Range::Digits(modifier.unwrap_or(MOST_DIGITS).min(MOST_DIGITS)))
            }
            _ => None,
        }
    }

    /// The values that are in both.
    pub fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Range::Integer(a), Range::Integer(b)) => Some(Range::Integer(a.min(b))),
            (Range::Uuid, Range::Uuid) => Some(Range::Uuid),
            (Range::Digits(a), Range::Digits(b)) => Some(Range::Digits(a.min(b))),
            _ => None,
        }
    }

    /// The ends of the range from which `count` numbers are drawn, wide enough that few are taken already; `None` for
    /// texts.
    pub fn ends(self, count: u64) -> Option<(i64, i64)> {
        let wanted = count.max(1 << 12).saturating_mul(16).min(i64::MAX as u64) as i64;
        match self {
            Range::Uuid => None,
            Range::Integer(most) if (most as u64) < 2 * count + SPARE => Some((-most, most)),
            Range::Integer(most) => Some((1, most.min(wanted))),
            Range::Digits(most) => {
                let digits = (1..most).find(|&digits| 9 * 10i64.pow(digits - 1) >= wanted);
                let high = 10i64.pow(digits.unwrap_or(most));
                Some((if high == 10 { 0 } else { high / 10 }, high - 1))
            }
        }
    }
}

/// Numbers that are drawn beyond twice as many as are needed.
pub const SPARE: u64 = 64;
