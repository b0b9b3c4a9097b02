//! Generations: the tables in which a shard keeps its part of a sharded release, one for each publish or refresh.
//! Each has a comment that says of which release it is and which number it has; what is dropped must have it, and
//! belong to the role that asks.

use crate::pg::call::error::Error;
use crate::pg::call::text_input::Input;
use crate::pg::call::{sql, text};
use crate::pg::catalog::{rights, types};
use crate::pg::write::target::{self, Name, NewColumn};
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::CStr;
use table::{Bag, NONE};

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
    let found = sql::latest_rows(OWN, &[user.into(), text::Text(pattern).into()])?;
    let pair = |row: sql::Row| Some((row.first()?.clone()?, row.get(1)?.clone()?));
    Ok(found.into_iter().filter_map(pair).collect())
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

/// Makes the table of a generation. What others may do with the generation before it, they may do with it.
pub fn create(
    mark: &Mark,
    name: &Name,
    generation: u64,
    before: Option<u64>,
    columns: &[NewColumn],
) -> Result<(), Error> {
    let made = name.create_heap(columns)?;
    // The coordinator points at it as soon as the commit is said to be done: it must not be lost, whatever the
    // role's synchronous_commit is.
    // SAFETY: sets a flag of the transaction.
    unsafe { pg_sys::ForceSyncCommit() };
    target::comment(made, &mark.comment(generation));
    // What is asked next has to see it.
    // SAFETY: ends the command.
    unsafe { pg_sys::CommandCounterIncrement() };
    let before = before.map(|generation| mark.comment(generation));
    let before = own(mark)?.into_iter().find(|(_, comment)| Some(comment) == before.as_ref());
    let Some((before, _)) = before else { return Ok(()) };
    let grants = sql::latest_rows(GRANTS, &[text::Text(before).into()])?;
    for row in grants {
        let [Some(right), Some(role), Some(option)] = row.as_slice() else { continue };
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

/// Rows between two looks for cancelling, after which scratch memory is given back.
const BATCH: u64 = 1024;

/// Values of a column up to which their datums are made once and kept.
const KEPT: usize = 1 << 16;

/// Writes the rows of a bag into the table of a generation, which this transaction has made.
///
/// The rows are written as frozen, as by COPY with FREEZE: whoever can find the table, which is whoever comes after
/// the commit, sees them all, whatever the age of their snapshot. A reader whose snapshot is older than the commit
/// would find an empty table otherwise.
pub fn write(name: &Name, bag: &Bag) -> Result<(), Error> {
    let table = name.find().ok_or_else(|| Error::NoSuchRelation { relation: name.quoted() })?;
    // SAFETY: the relation is open until the end; an error leaves closing it to the end of the transaction.
    unsafe {
        let lock = pg_sys::RowExclusiveLock as pg_sys::LOCKMODE;
        let opened = pg_sys::relation_open(table, lock);
        let written = match unfit(opened) {
            Some(reason) => Err(Error::Unsuitable { relation: name.quoted(), reason }),
            None => Writer::new(opened, bag).and_then(|mut writer| writer.write(bag)),
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

/// A column of the table.
struct Cell {
    /// Which column of the bag it is.
    column: usize,
    input: Input,
    /// Datums made so far, by code; empty if there are too many values for that.
    made: Vec<Option<Datum>>,
    /// Its domain type, until that is known to allow NULL.
    domain: Option<Oid>,
}

/// Writes rows into an open table.
struct Writer {
    table: pg_sys::Relation,
    cells: Vec<Cell>,
    /// Of the call.
    context: pg_sys::MemoryContext,
    scratch: pg_sys::MemoryContext,
}

impl Writer {
    /// # Safety
    /// The table is open as long as the writer lives.
    unsafe fn new(table: pg_sys::Relation, bag: &Bag) -> Result<Self, Error> {
        let names: Vec<&str> = bag.domains().iter().map(|domain| domain.name()).collect();
        // SAFETY: the descriptor of the open table; contexts of the call.
        unsafe {
            let descriptor = pgrx::PgTupleDesc::from_pg_copy((*table).rd_att);
            let mut cells = Vec::with_capacity(names.len());
            for attribute in descriptor.iter() {
                let name = CStr::from_ptr(attribute.attname.data.as_ptr());
                let name = text::to_utf8(name.to_bytes());
                let Some(column) = names.iter().position(|own| *own == name) else {
                    return Err(misfit(format!("the bag has no column \"{name}\"")));
                };
                cells.push(Cell::new(column, attribute, bag.domain(column).len()));
            }
            if cells.len() != names.len() {
                return Err(misfit("the bag has columns that the table has not".into()));
            }
            let context = pg_sys::CurrentMemoryContext;
            let scratch = pg_sys::AllocSetContextCreateExtended(
                context,
                c"pg_sanitize generation".as_ptr(),
                pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            );
            Ok(Writer { table, cells, context, scratch })
        }
    }

    fn write(&mut self, bag: &Bag) -> Result<(), Error> {
        let mut values = vec![Datum::null(); self.cells.len()];
        let mut nulls = vec![true; self.cells.len()];
        let mut written: u64 = 0;
        // SAFETY: the table is open, and owned and made by the caller; as many values as it has columns, of their
        // types; contexts are put back as they were.
        unsafe {
            let bulk = pg_sys::GetBulkInsertState();
            let command = pg_sys::GetCurrentCommandId(true);
            let options = (pg_sys::HEAP_INSERT_SKIP_FSM | pg_sys::HEAP_INSERT_FROZEN) as i32;
            for row in 0..bag.distinct() {
                let before = pg_sys::MemoryContextSwitchTo(self.scratch);
                for (i, cell) in self.cells.iter_mut().enumerate() {
                    let code = bag.row(row)[cell.column];
                    nulls[i] = code == NONE;
                    values[i] = match code {
                        NONE => cell.null(),
                        code => cell.datum(code, bag.domain(cell.column).value(code), self.context),
                    };
                }
                let descriptor = (*self.table).rd_att;
                let tuple =
                    pg_sys::heap_form_tuple(descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
                for _ in 0..bag.weight(row) {
                    pg_sys::heap_insert(self.table, tuple, command, options, bulk);
                    written += 1;
                    if written.is_multiple_of(BATCH) {
                        pg_sys::check_for_interrupts!();
                    }
                }
                pg_sys::MemoryContextSwitchTo(before);
                if row as u64 % BATCH == BATCH - 1 {
                    pg_sys::MemoryContextReset(self.scratch);
                }
            }
            pg_sys::FreeBulkInsertState(bulk);
            pg_sys::CommandCounterIncrement();
        }
        Ok(())
    }
}

impl Cell {
    fn new(column: usize, attribute: &pg_sys::FormData_pg_attribute, count: usize) -> Self {
        let of = attribute.atttypid;
        // SAFETY: a look-up by type OID.
        let base = unsafe { pg_sys::getBaseType(of) };
        Cell {
            column,
            input: Input::new(of, attribute.atttypmod),
            made: if count <= KEPT { vec![None; count] } else { Vec::new() },
            domain: (base != of).then_some(of),
        }
    }

    /// A NULL, which a domain type may refuse in Postgres' own words.
    fn null(&mut self) -> Datum {
        if let Some(of) = self.domain.take() {
            types::check_domain(of, None);
        }
        Datum::null()
    }

    /// The value of a text; those that are kept are made in the context.
    ///
    /// # Safety
    /// The context lives as long as the cell.
    unsafe fn datum(&mut self, code: u32, value: &[u8], context: pg_sys::MemoryContext) -> Datum {
        let Cell { input, made, .. } = self;
        let mut make = || {
            // SAFETY: a palloc'd C string.
            let text =
                unsafe { CStr::from_ptr(pg_sys::pnstrdup(value.as_ptr().cast(), value.len())) };
            input.value(text)
        };
        match made.get_mut(code as usize) {
            Some(made) => *made.get_or_insert_with(|| {
                // SAFETY: as the caller says.
                unsafe { pgrx::PgMemoryContexts::For(context).switch_to(|_| make()) }
            }),
            None => make(),
        }
    }
}

fn misfit(what: String) -> Error {
    Error::argument(what, "A bag of rows has the columns of the table that it is written to.")
}
