//! Generations: the tables in which a shard keeps its part of a sharded release, one for each publish or refresh. Each
//! has a comment with its release and its number. Only tables with that comment that belong to the asking role are
//! dropped.

use crate::pg::call::text_input::Input;
use crate::pg::prelude::*;
use crate::pg::write::rowset::ResultRows;
use crate::pg::write::target::{self, Name, NewColumn};
use crate::pg::write::typed::{TypedRows, Values};
use std::ffi::CStr;
use table::Bag;

/// A release, by the mark that its publish drew; digits and letters only.
pub struct Mark(String);

impl Mark {
    pub fn new(mark: &str) -> Result<Self, Error> {
        let fits =
            (16..=64).contains(&mark.len()) && mark.bytes().all(|b| b.is_ascii_alphanumeric());
        match fits {
            true => Ok(Mark(mark.into())),
            false => Err(Error::argument(
                format!("the mark of a release is \"{mark}\""),
                "It is 16 to 64 letters and digits.",
            )),
        }
    }

    /// The comment of a generation.
    fn comment(&self, generation: u64) -> String {
        format!("generation {generation} of the sharded release {}", self.0)
    }
}

/// The generations of a release that belong to the current user, with their names, qualified and quoted.
fn own(mark: &Mark) -> Result<Vec<(String, String)>, Error> {
    let user = rights::current_user();
    let pattern = format!("generation % of the sharded release {}", mark.0);
    let found = sql::latest_rows(OWN, &[user.into(), Text(pattern).into()])?;
    Ok(found.into_iter().filter_map(|[table, comment]| table.zip(comment)).collect())
}

const OWN: &str = "SELECT pg_catalog.format('%I.%I', n.nspname, c.relname), d.description
    FROM pg_catalog.pg_description AS d
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) d.objoid
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
   WHERE d.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
     AND d.objsubid OPERATOR(pg_catalog.=) 0
     AND c.relkind OPERATOR(pg_catalog.=) 'r' AND c.relowner OPERATOR(pg_catalog.=) $1
     AND d.description OPERATOR(pg_catalog.~~) $2
   ORDER BY c.oid";

/// Drops all generations of a release but one, unless something depends on them.
pub fn drop_all_but(mark: &Mark, kept: Option<u64>) -> Result<(), Error> {
    let kept = kept.map(|generation| mark.comment(generation));
    for (table, comment) in own(mark)? {
        if Some(&comment) != kept.as_ref() {
            sql::run_as_caller(&format!("DROP TABLE IF EXISTS {table} RESTRICT"), &[])?;
        }
    }
    Ok(())
}

/// Makes the table of a generation, with the rights that others have on the previous generation.
pub fn create(
    mark: &Mark,
    name: &Name,
    generation: u64,
    before: Option<u64>,
    columns: &[NewColumn],
) -> Result<(), Error> {
    let made = name.create_by(columns, " USING heap")?;
    // The coordinator points at it as soon as the commit is reported: the commit must not be lost, even if the role has
    // synchronous_commit off.
    // SAFETY: sets a flag of the transaction.
    unsafe { pg_sys::ForceSyncCommit() };
    target::comment(made, &mark.comment(generation));
    // The next command has to see the table.
    // SAFETY: ends the command.
    unsafe { pg_sys::CommandCounterIncrement() };
    let before = before.map(|generation| mark.comment(generation));
    let before = own(mark)?.into_iter().find(|(_, comment)| Some(comment) == before.as_ref());
    let Some((before, _)) = before else { return Ok(()) };
    let grants = sql::latest_rows(GRANTS, &[Text(before).into()])?;
    for row in grants {
        let [Some(right), Some(role), Some(option)] = row else { continue };
        let statement = format!("GRANT {right} ON TABLE {} TO {role}{option}", name.quoted());
        sql::run_as_caller(&statement, &[])?;
    }
    Ok(())
}

const GRANTS: &str = "SELECT a.privilege_type,
         CASE WHEN a.grantee OPERATOR(pg_catalog.=) 0::pg_catalog.oid THEN 'PUBLIC'
              ELSE pg_catalog.quote_ident(r.rolname) END,
         CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
    FROM pg_catalog.pg_class AS c
   CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) a.grantee
   WHERE c.oid OPERATOR(pg_catalog.=) $1::pg_catalog.regclass
     AND a.grantee OPERATOR(pg_catalog.<>) c.relowner
     AND a.grantor OPERATOR(pg_catalog.=) c.relowner
   ORDER BY 1, 2";

/// Writes the rows of a bag into the table of a generation, which this transaction has made.
///
/// The rows are written as frozen, as by COPY with FREEZE: everyone who can find the table, which is possible only
/// after the commit, sees them all, however old their snapshot is. Otherwise a reader whose snapshot is older than the
/// commit would find an empty table.
pub fn write(name: &Name, bag: &Bag) -> Result<(), Error> {
    let table = name.find().ok_or_else(|| Error::NoSuchRelation { relation: name.quoted() })?;
    // SAFETY: the relation is open until the end; an error leaves closing it to the end of the transaction.
    unsafe {
        let lock = pg_sys::RowExclusiveLock as pg_sys::LOCKMODE;
        let opened = pg_sys::relation_open(table, lock);
        let written = match unfit(opened) {
            Some(reason) => Err(Error::Unsuitable { relation: name.quoted(), reason }),
            None => write_bag(opened, bag),
        };
        pg_sys::relation_close(opened, pg_sys::NoLock as pg_sys::LOCKMODE);
        written
    }
}

/// Why an open table cannot be written in this way.
unsafe fn unfit(table: pg_sys::Relation) -> Option<String> {
    // SAFETY: the table is open.
    let (form, is_new, plain) = unsafe {
        let made = (*table).rd_createSubid;
        let is_new = made == pg_sys::GetCurrentSubTransactionId();
        (&*(*table).rd_rel, is_new, (*(*table).rd_att).constr.is_null())
    };
    if form.relowner != rights::current_user() {
        Some("it belongs to another role".into())
    } else if !is_new {
        Some("this transaction has not made it".into())
    } else if form.relkind as u8 != pg_sys::RELKIND_RELATION || form.relam != Oid::from(HEAP) {
        Some("it is no ordinary table".into())
    } else if form.relhasindex || form.relhastriggers || form.relhasrules || !plain {
        Some("it has an index, a trigger, a rule or a constraint".into())
    } else {
        None
    }
}

/// The OID of the access method `heap`.
const HEAP: u32 = 2;

/// The values of a bag, read by the input functions of the columns' types.
struct BagValues<'a> {
    bag: &'a Bag,
    /// By column of the bag.
    inputs: Vec<Input>,
}

impl Values for BagValues<'_> {
    fn count(&self, column: usize) -> usize {
        self.bag.domain(column).len()
    }

    fn datum(&mut self, column: usize, code: u32) -> Datum {
        let value = self.bag.domain(column).value(code);
        // SAFETY: a palloc'd C string.
        let text = unsafe { CStr::from_ptr(pg_sys::pnstrdup(value.as_ptr().cast(), value.len())) };
        self.inputs[column].value(text)
    }
}

/// Writes the rows of a bag into a table of its columns.
///
/// # Safety
/// The table is open, and fit to be written in this way.
unsafe fn write_bag(table: pg_sys::Relation, bag: &Bag) -> Result<(), Error> {
    // SAFETY: the table is open.
    let relation = Relation::row_type(unsafe { (*table).rd_id })?;
    let names: Vec<&str> = bag.domains().iter().map(|domain| domain.name()).collect();
    if let Some(column) = relation.columns.iter().find(|own| !names.contains(&own.name.as_str())) {
        return Err(misfit(format!("the bag has no column \"{}\"", column.name)));
    }
    if relation.columns.len() != names.len() {
        return Err(misfit("the bag has columns that the table has not".into()));
    }
    let columns =
        names.iter().map(|name| relation.position(name)).collect::<Result<Vec<_>, _>>()?;
    let input = |&column: &usize| Input::shown(&relation.columns[column]);
    let values = BagValues { bag, inputs: columns.iter().map(input).collect() };
    // SAFETY: as the caller says.
    unsafe {
        ResultRows::frozen(table, |rows| {
            let mut rows = TypedRows::begin(rows, &relation, &columns, values)?;
            for row in 0..bag.distinct() {
                rows.push(bag.row(row), bag.weight(row));
            }
            Ok(())
        })
    }
}

fn misfit(what: String) -> Error {
    Error::argument(what, "A bag of rows has the columns of the table that it is written to.")
}
