//! Compares a function's declaration in the library with that in the database. Between installing a new library and
//! `ALTER EXTENSION … UPDATE` the two may differ, and a datum read as another type could show arbitrary memory.

use super::argument::{Declared, Type};
use crate::pg::prelude::*;
use std::cell::RefCell;
use std::collections::HashSet;

/// What a function returns.
#[derive(Debug, Clone, Copy)]
pub enum Returns {
    One(Type),
    Set(Type),
    /// Rows with these columns.
    Table(&'static [(&'static str, Type)]),
}

thread_local! {
    /// Functions whose declarations fit, with the name of the method that they were compared with.
    static FITTING: RefCell<HashSet<(Oid, &'static str)>> = RefCell::default();
}

#[pgrx::pg_guard]
unsafe extern "C-unwind" fn forget(_argument: Datum, _cache: i32, _hash: u32) {
    FITTING.with_borrow_mut(HashSet::clear);
}

/// Called once when a backend loads the library.
pub fn register() {
    // SAFETY: the function lives as long as the process.
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
        pg_sys::CacheRegisterSyscacheCallback(cache, Some(forget), Datum::null());
    }
}

/// Marks an `FmgrInfo` whose function was compared: a look-up in the set is too slow for functions that run once for
/// each row.
static COMPARED: u8 = 0;

/// Refuses a call of a function whose declaration in the catalog does not fit.
///
/// # Safety
/// `fcinfo` comes from the function manager.
pub unsafe fn check(
    fcinfo: pg_sys::FunctionCallInfo,
    name: &'static str,
    arguments: &[&dyn Declared],
    returns: &Returns,
) -> Result<(), Error> {
    // SAFETY: a call's flinfo, if there is one, is valid; nothing else of ours uses fn_extra.
    unsafe {
        let Some(function) = (*fcinfo).flinfo.as_mut() else { return Err(Error::Context) };
        let mark = (&raw const COMPARED).cast_mut().cast();
        if function.fn_extra == mark {
            return Ok(());
        }
        let key = (function.fn_oid, name);
        if !FITTING.with_borrow(|fitting| fitting.contains(&key)) {
            let declared = Declaration::read(function.fn_oid)
                .ok_or_else(|| Error::fault(format!("{name} has no entry in pg_proc")))?;
            if let Some(what) = declared.misfit(arguments, returns) {
                return Err(mismatch(function.fn_oid, &what));
            }
            // Input functions of types receive more arguments than they declare.
            if usize::from((*fcinfo).nargs as u16) < arguments.len() {
                return Err(mismatch(function.fn_oid, "the number of arguments"));
            }
            FITTING.with_borrow_mut(|fitting| fitting.insert(key));
        }
        function.fn_extra = mark;
    }
    Ok(())
}

/// Refuses to work on tables of an earlier version, recognised by the missing schema of internal functions: they lack
/// the columns that distinguish a relation from an earlier one with the same OID.
pub fn check_tables() -> Result<(), Error> {
    // SAFETY: a catalog look-up by name.
    let is_there = unsafe {
        let schema = pg_sys::get_namespace_oid(c"sanitize_internal".as_ptr(), true);
        schema != pg_sys::InvalidOid
    };
    match is_there {
        true => Ok(()),
        false => Err(missing("sanitize_internal.row_type(regclass)".into())),
    }
}

/// Refuses to run a method if the caller may not call its function, or if the function's declaration does not fit:
/// publishing runs methods without a call from SQL.
pub fn check_callable(
    name: &'static str,
    arguments: &[&dyn Declared],
    returns: &Returns,
) -> Result<(), Error> {
    // SAFETY: a look-up by name, which raises Postgres' own error without the right to use the schema.
    let schema = unsafe { pg_sys::LookupExplicitNamespace(c"sanitize".as_ptr(), false) };
    let declared = sql::rows::<1>(
        "SELECT oid::pg_catalog.text FROM pg_catalog.pg_proc
          WHERE pronamespace OPERATOR(pg_catalog.=) $1 AND proname OPERATOR(pg_catalog.=) $2::pg_catalog.name",
        &[schema.into(), Text(name.into()).into()],
    )?;
    let fits = |oid: &Oid| {
        Declaration::read(*oid).is_some_and(|found| found.misfit(arguments, returns).is_none())
    };
    let mut oids = declared.iter().filter_map(|[oid]| sql::oid(oid).ok());
    let function = oids.find(fits).ok_or_else(|| missing(format!("sanitize.{name}")))?;
    if !rights::may_execute(function) {
        let (denied, what) =
            (pg_sys::AclResult::ACLCHECK_NO_PRIV, pg_sys::ObjectType::OBJECT_FUNCTION);
        // SAFETY: raises Postgres' own error; the name is palloc'd.
        unsafe { pg_sys::aclcheck_error(denied, what, text::c_string(name)) };
    }
    Ok(())
}

/// The error that a function of this version is not in the database.
fn missing(function: String) -> Error {
    let version = sql::texts(
        "SELECT extversion FROM pg_catalog.pg_extension
          WHERE extname OPERATOR(pg_catalog.=) 'pg_sanitize'",
        &[],
    );
    versions(function, "it is missing", version)
}

/// A function as the catalog has it.
struct Declaration {
    arguments: Vec<(Option<String>, Oid)>,
    columns: Vec<(Option<String>, Oid)>,
    result: Oid,
    is_set: bool,
}

impl Declaration {
    fn read(function: Oid) -> Option<Self> {
        // SAFETY: the tuple is released after its last use; the arrays are palloc'd copies of as many
        // entries as the function has arguments and columns.
        unsafe {
            let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
            let tuple = pg_sys::SearchSysCache1(cache, function.into());
            if tuple.is_null() {
                return None;
            }
            let form = &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_proc>();
            let (result, is_set) = (form.prorettype, form.proretset);
            let (mut types, mut names, mut modes) =
                (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
            let count = pg_sys::get_func_arg_info(tuple, &mut types, &mut names, &mut modes);
            let (mut arguments, mut columns) = (Vec::new(), Vec::new());
            for i in 0..usize::try_from(count).unwrap_or(0) {
                let name = if names.is_null() { None } else { text::of_c(*names.add(i)) };
                let mode = if modes.is_null() { b'i' } else { *modes.add(i) as u8 };
                let one = (name.filter(|name| !name.is_empty()), *types.add(i));
                match mode {
                    b'i' | b'v' => arguments.push(one),
                    _ => columns.push(one),
                }
            }
            pg_sys::ReleaseSysCache(tuple);
            Some(Declaration { arguments, columns, result, is_set })
        }
    }

    /// Describes what does not fit; `None` if all does.
    fn misfit(&self, arguments: &[&dyn Declared], returns: &Returns) -> Option<String> {
        if self.arguments.len() != arguments.len() {
            let (here, there) = (self.arguments.len(), arguments.len());
            return Some(format!("it has {here} arguments instead of {there}"));
        }
        for ((name, declared), argument) in self.arguments.iter().zip(arguments) {
            if name.as_ref().is_some_and(|name| name != argument.name()) {
                return Some(format!("argument {} has another name", argument.name()));
            }
            if !argument.of().fits(*declared) {
                return Some(format!("argument {} has another type", argument.name()));
            }
        }
        let (result, is_set) = match *returns {
            Returns::One(of) => (of.fits(self.result), false),
            Returns::Set(of) => (of.fits(self.result), true),
            Returns::Table([(_, of)]) => (of.fits(self.result), true),
            Returns::Table(_) => (Type::Record.fits(self.result), true),
        };
        if !result || self.is_set != is_set {
            return Some("it returns another type".into());
        }
        let columns: &[_] = if let Returns::Table(columns) = *returns { columns } else { &[] };
        if self.columns.len() != columns.len() {
            return Some(format!(
                "it has {} columns instead of {}",
                self.columns.len(),
                columns.len()
            ));
        }
        for ((name, declared), (column, of)) in self.columns.iter().zip(columns) {
            if name.as_deref() != Some(column) || !of.fits(*declared) {
                return Some(format!("column {column} has another name or type"));
            }
        }
        None
    }
}

/// The error for a mismatch, with the versions of SQL and library.
fn mismatch(function: Oid, what: &str) -> Error {
    // SAFETY: catalog look-ups.
    let name = unsafe { text::name(pg_sys::format_procedure(function)) };
    let version = sql::texts(
        "SELECT e.extversion FROM pg_catalog.pg_extension AS e
           JOIN pg_catalog.pg_depend AS d ON d.refobjid OPERATOR(pg_catalog.=) e.oid
          WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
            AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
            AND d.deptype OPERATOR(pg_catalog.=) 'e' AND d.objid OPERATOR(pg_catalog.=) $1",
        &[function.into()],
    );
    versions(name, what, version)
}

/// `version` is the result of a query for the extension's version.
fn versions(function: String, what: &str, version: Result<Vec<Option<String>>, Error>) -> Error {
    let sql = version.ok().and_then(|found| found.into_iter().next().flatten());
    Error::Version { function, what: what.into(), sql, library: env!("CARGO_PKG_VERSION") }
}
