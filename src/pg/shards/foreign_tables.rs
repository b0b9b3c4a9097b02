//! Relations whose rows lie on other servers. A *shard* is a foreign table of postgres_fdw, the relation itself or one
//! of its leaves, whose server names pg_sanitize in its option `extensions`: it can make a bag of its rows, and then
//! only the bag is sent.
//!
//! This file finds which leaves a relation has, and whether they may be asked one by one.

use super::citus;
use super::partitions::inheritors;
use super::travel::Way;
use crate::pg::call::notice::notice;
use crate::pg::call::text::name;
use crate::pg::catalog::relation::{Asked, c_string};
use crate::pg::prelude::*;
use pgrx::{PgList, Spi};
use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::sync::Mutex;

/// Columns of a bag: an aggregate has at most 99 arguments, and the names take one.
const MOST_COLUMNS: usize = 98;

/// A leaf of a relation: where some of its rows are.
#[derive(Debug, Clone)]
pub struct Shard {
    /// For messages: the server, if it is not this one, and the table.
    pub name: String,
    /// The leaf.
    pub relation: Oid,
    /// The foreign server of a table of postgres_fdw.
    pub server: Option<Server>,
}

/// A foreign server.
#[derive(Debug, Clone)]
pub struct Server {
    pub oid: Oid,
    pub name: String,
    /// Whether it has the extension, by its options.
    pub has_extension: bool,
}

impl Shard {
    /// Whether it can make bags.
    pub fn makes_bags(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.has_extension)
    }

    /// Its name in a query, without inheriting tables. In the database's encoding.
    pub fn from(&self) -> Vec<u8> {
        // SAFETY: look-ups of a relation that is locked; the results are palloc'd C strings.
        unsafe {
            let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(self.relation));
            let name = pg_sys::get_rel_name(self.relation);
            let qualified = CStr::from_ptr(pg_sys::quote_qualified_identifier(schema, name));
            [b"ONLY ", qualified.to_bytes()].concat()
        }
    }
}

/// The leaves of a relation from which values are requested.
pub struct Shards<'a> {
    pub asked: &'a Asked,
    pub leaves: Vec<Shard>,
    /// The relation is the only leaf, and Citus makes one bag of it.
    pub by_citus: bool,
}

impl<'a> Shards<'a> {
    /// The leaves with rows of the relation, locked for reading. `None` if it can have none on other servers.
    pub fn of(asked: &'a Asked) -> Result<Option<Self>, Error> {
        let oid = asked.relation;
        // SAFETY: a catalog look-up.
        let kind = unsafe { pg_sys::get_rel_relkind(oid) as u8 };
        let divided = [
            pg_sys::RELKIND_PARTITIONED_TABLE,
            pg_sys::RELKIND_FOREIGN_TABLE,
            pg_sys::RELKIND_RELATION,
        ];
        if asked.is_joined || !divided.contains(&kind) {
            return Ok(None);
        }
        let mut leaves = Vec::new();
        for leaf in inheritors(oid) {
            // SAFETY: look-ups of a relation that is locked.
            unsafe {
                let kind = pg_sys::get_rel_relkind(leaf) as u8;
                // Postgres leaves temporary tables of other sessions out.
                let strange = pg_sys::isOtherTempNamespace(pg_sys::get_rel_namespace(leaf));
                if kind != pg_sys::RELKIND_PARTITIONED_TABLE && !strange {
                    leaves.push(shard(leaf, kind));
                }
            }
        }
        let shards = Shards { asked, leaves, by_citus: false };
        Ok((shards.foreign() > 0).then_some(shards))
    }

    /// The leaves, if shards can be asked for bags.
    pub fn with_bags(asked: &'a Asked) -> Result<Option<Self>, Error> {
        if let Some(distributed) = Shards::of_citus(asked)? {
            asked.reading.note(Read::Citus);
            return Ok(Some(distributed));
        }
        let Some(shards) = Shards::of(asked)? else { return Ok(None) };
        Ok(shards.noted()?.then_some(shards))
    }

    /// Whether shards can be asked for bags; records this as the way in which the relation is read.
    pub fn noted(&self) -> Result<bool, Error> {
        let (bags, foreign) = (self.can_make_bags()?, self.foreign());
        self.asked.reading.note(if bags { Read::Bags(foreign) } else { Read::Rows(foreign) });
        Ok(bags)
    }

    /// A table of Citus. It is asked as a whole: rights and policies are those of the table.
    fn of_citus(asked: &'a Asked) -> Result<Option<Self>, Error> {
        let relation = asked.relation;
        if asked.is_joined
            || asked.width() == 0
            || !citus::distributes(relation)?
            || !has_functions()?
        {
            return Ok(None);
        }
        // SAFETY: the relation is locked.
        let leaves = unsafe { vec![shard(relation, pg_sys::get_rel_relkind(relation) as u8)] };
        let shards = Shards { asked, leaves, by_citus: true };
        Ok(shards.ways().is_some().then_some(shards))
    }

    /// How many leaves are on other servers.
    fn foreign(&self) -> usize {
        self.leaves.iter().filter(|leaf| leaf.server.is_some()).count()
    }

    /// Whether bags of the shards contain the same rows as the relation, so that reading its leaves skips nothing that
    /// Postgres does when it reads the relation: the current user may read all leaves, no row security is in force, and
    /// all requested values can be sent to the shards.
    pub fn can_make_bags(&self) -> Result<bool, Error> {
        if !self.leaves.iter().any(Shard::makes_bags)
            || !(1..=MOST_COLUMNS).contains(&self.asked.width())
        {
            return Ok(false);
        }
        let relations = self.leaves.iter().map(|leaf| leaf.relation);
        for relation in relations.chain([self.asked.relation]) {
            if is_secured(relation) || !self.may_read(relation) {
                return Ok(false);
            }
        }
        Ok(has_functions()? && self.is_sent()?)
    }

    /// True if the current user may read all requested values.
    fn may_read(&self, relation: Oid) -> bool {
        rights::may_read(relation)
            || self.asked.columns().all(|name| {
                // SAFETY: a catalog look-up of a relation that is locked.
                let column = unsafe { pg_sys::get_attnum(relation, name.as_ptr()) };
                rights::may_read_column(relation, column)
            })
    }

    /// The shards that make bags, with their numbers.
    pub fn asked_shards(&self) -> impl Iterator<Item = (usize, &Shard)> {
        self.leaves.iter().enumerate().filter(|(_, leaf)| leaf.makes_bags())
    }

    /// Asks all shards for bags: one row with the shard's number and its bag, packed, for each.
    pub fn query(&self, ways: &[Way]) -> CString {
        if self.by_citus {
            return citus::query(self.asked, ways);
        }
        let names = self.asked.numbered();
        let columns = self.asked.expressions(ways);
        let mut query = Vec::new();
        for (number, shard) in self.asked_shards() {
            if !query.is_empty() {
                query.extend_from_slice(b" UNION ALL ");
            }
            // With a blank before the comma, unlike what postgres_fdw sends: see `fault`.
            let bag = format!(
                "SELECT {number} , sanitize_internal.bag_packed(sanitize.row_bag('{{{names}}}'::pg_catalog.cstring[], "
            );
            query.extend_from_slice(bag.as_bytes());
            query.extend_from_slice(&columns);
            query.extend_from_slice(b")) FROM ");
            query.extend_from_slice(&shard.from());
        }
        c_string(query)
    }

    /// True if postgres_fdw sends the whole query. It does not send types or functions that are not built in: then rows
    /// would have to be fetched.
    fn is_sent(&self) -> Result<bool, Error> {
        let Some(ways) = self.ways() else { return Ok(false) };
        let query = self.query(&ways);
        self.caught(None, || {
            // SAFETY: the plan is read while it is held, and released before SPI frees what was prepared.
            Spi::connect(|_| unsafe {
                let prepared = pg_sys::SPI_prepare(query.as_ptr(), 0, std::ptr::null_mut());
                let planned = pg_sys::SPI_plan_get_cached_plan(prepared);
                if planned.is_null() {
                    return false;
                }
                let statements = PgList::<pg_sys::PlannedStmt>::from_pg((*planned).stmt_list);
                let here = statements.iter_ptr().any(|statement| aggregates((*statement).planTree));
                // A plan that is not saved has no owner.
                pg_sys::ReleaseCachedPlan(planned, std::ptr::null_mut());
                !here
            })
        })
    }
}

/// True if a node of the plan is an aggregate of this server.
///
/// # Safety
/// Null, or a valid plan.
unsafe fn aggregates(plan: *mut pg_sys::Plan) -> bool {
    if plan.is_null() {
        return false;
    }
    // SAFETY: as the caller says; the tag of a node says what it is.
    unsafe {
        match (*plan).type_ {
            pg_sys::NodeTag::T_Agg => true,
            pg_sys::NodeTag::T_Append => {
                let parts = (*plan.cast::<pg_sys::Append>()).appendplans;
                PgList::<pg_sys::Plan>::from_pg(parts).iter_ptr().any(|part| aggregates(part))
            }
            pg_sys::NodeTag::T_SubqueryScan => {
                aggregates((*plan.cast::<pg_sys::SubqueryScan>()).subplan)
            }
            _ => aggregates((*plan).lefttree) || aggregates((*plan).righttree),
        }
    }
}

/// How leaves on other servers were read, and how many there are.
#[derive(Debug, Clone, Copy)]
enum Read {
    Bags(usize),
    Rows(usize),
    Citus,
}

impl fmt::Display for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, shards) = match self {
            Read::Bags(shards) => ("bags", shards),
            Read::Rows(shards) => ("rows", shards),
            Read::Citus => return write!(f, "a bag that Citus combines"),
        };
        write!(f, "{what} of {shards} shard{}", if *shards == 1 { "" } else { "s" })
    }
}

/// How a relation was read, if rows of it are on other servers.
#[derive(Default)]
pub struct Reading(Mutex<Option<Read>>);

impl Reading {
    /// Records how it is read, and adds this to the progress. If it is read several times, and rows were fetched in any
    /// of the reads, it counts as read by rows.
    fn note(&self, read: Read) {
        if let Ok(mut noted) = self.0.lock()
            && !matches!(*noted, Some(Read::Rows(_)))
        {
            *noted = Some(read);
        }
        if settings::progress().is_some() {
            notice(&format!("pg_sanitize: reading {read}"));
        }
    }

    /// As a text for a label.
    pub fn told(&self) -> Option<String> {
        self.0.lock().ok()?.map(|read| read.to_string())
    }
}

/// Why statements of this server alone cannot write the rows of a table: another engine stores them.
pub fn engine_of(relation: Oid) -> Option<String> {
    match citus::manages(relation) {
        Ok(false) => None,
        Ok(true) => {
            Some("Citus keeps its rows, and pg_sanitize writes ordinary tables only".into())
        }
        Err(_) => Some("the catalog of Citus cannot be read".into()),
    }
}

/// True if policies decide which rows the current user sees, or refuse all.
fn is_secured(relation: Oid) -> bool {
    // SAFETY: a catalog look-up.
    let secured = unsafe { pg_sys::check_enable_rls(relation, pg_sys::InvalidOid, true) };
    secured == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32
}

/// True if the functions that the shards are asked by exist here too.
fn has_functions() -> Result<bool, Error> {
    sql::is_known("sanitize_internal.bag_packed(sanitize.bag)")
}

/// A leaf of the kind.
///
/// # Safety
/// The relation is locked.
unsafe fn shard(relation: Oid, kind: u8) -> Shard {
    // SAFETY: as the caller says; names are palloc'd C strings.
    unsafe {
        let table = name(pg_sys::get_rel_name(relation));
        let server = (kind == pg_sys::RELKIND_FOREIGN_TABLE).then(|| server_of(relation)).flatten();
        let name = match &server {
            Some(server) => format!("{}.{table}", server.name),
            None => table,
        };
        Shard { name, relation, server }
    }
}

/// The server of a foreign table of postgres_fdw.
///
/// # Safety
/// The relation is a foreign table that is locked.
unsafe fn server_of(relation: Oid) -> Option<Server> {
    // SAFETY: as the caller says; what is found is palloc'd.
    unsafe {
        let server = pg_sys::GetForeignServer((*pg_sys::GetForeignTable(relation)).serverid);
        let wrapper = pg_sys::GetForeignDataWrapper((*server).fdwid);
        // Decided by the wrapper's handler function, not by its name.
        let extension =
            pg_sys::getExtensionOfObject(pg_sys::ProcedureRelationId, (*wrapper).fdwhandler);
        if extension == pg_sys::InvalidOid
            || name(pg_sys::get_extension_name(extension)) != "postgres_fdw"
        {
            return None;
        }
        Some(Server::new(server))
    }
}

impl Server {
    /// The server with this OID, which exists.
    pub fn of(oid: Oid) -> Self {
        // SAFETY: a catalog look-up; what is found is palloc'd.
        unsafe { Server::new(pg_sys::GetForeignServer(oid)) }
    }

    /// # Safety
    /// The server is one that Postgres found.
    unsafe fn new(server: *mut pg_sys::ForeignServer) -> Self {
        // SAFETY: as the caller says.
        unsafe {
            let options = PgList::<pg_sys::DefElem>::from_pg((*server).options);
            let has_extension = options.iter_ptr().any(|option| {
                CStr::from_ptr((*option).defname).to_bytes() == b"extensions" && lists_us(option)
            });
            let name = name((*server).servername);
            Server { oid: (*server).serverid, name, has_extension }
        }
    }
}

/// True if a list of extensions has this one.
///
/// # Safety
/// The option is valid, and its value a text.
unsafe fn lists_us(option: *mut pg_sys::DefElem) -> bool {
    // SAFETY: as the caller says; the copy is split in place.
    unsafe {
        let copy = pg_sys::pstrdup(pg_sys::defGetString(option));
        let mut names = std::ptr::null_mut();
        pg_sys::SplitIdentifierString(copy, b',' as c_char, &mut names)
            && PgList::<c_char>::from_pg(names)
                .iter_ptr()
                .any(|name| CStr::from_ptr(name).to_bytes() == b"pg_sanitize")
    }
}
