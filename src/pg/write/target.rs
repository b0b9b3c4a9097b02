//! Tables that releases are written to: their names, how they are made, and what makes them unsuitable.

use crate::pg::call::argument::Type;
use crate::pg::catalog::relation::{Column, Relation, is_partitioned};
use crate::pg::catalog::syscache::cached;
use crate::pg::prelude::*;
use crate::pg::process::worker;
use crate::pg::shards::{foreign_tables, partitions};
use pgrx::pg_sys::SysCacheIdentifier;
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, CString};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The schema and name of a table that exists or is to be made.
pub struct Name {
    schema: Oid,
    /// In the database's encoding.
    name: CString,
}

impl Name {
    /// The place where CREATE TABLE would make a table of this name.
    pub fn parse(name: &str) -> Result<Self, Error> {
        let value = text::datum(&text::from_utf8(name));
        // SAFETY: the parser of names takes a text and raises an error for an invalid one; the name in its RangeVar
        // ends with NUL.
        let (schema, name) = unsafe {
            let parts = pg_sys::textToQualifiedNameList(value.cast_mut_ptr());
            let range = pg_sys::makeRangeVarFromNameList(parts);
            let schema = pg_sys::RangeVarGetCreationNamespace(range);
            (schema, CStr::from_ptr((*range).relname).to_owned())
        };
        let name = Name { schema, name };
        if let Some(refusal) = name.refused() {
            return Err(Error::argument(
                refusal,
                "A release is a table that others can read: name one in a schema of yours.",
            ));
        }
        Ok(name)
    }

    /// The table of this name in the schema of another one.
    pub fn beside(table: Oid, name: &str) -> Result<Self, Error> {
        // SAFETY: a catalog look-up.
        let schema = unsafe { pg_sys::get_rel_namespace(table) };
        Ok(Name { schema, name: CString::new(text::from_utf8(name)).map_err(Error::fault)? })
    }

    /// The table of this name in this schema.
    pub fn within(schema: &str, name: &str) -> Result<Self, Error> {
        let wanted = CString::new(text::from_utf8(schema)).map_err(Error::fault)?;
        // SAFETY: a catalog look-up by name.
        let found = unsafe { pg_sys::get_namespace_oid(wanted.as_ptr(), true) };
        if found == pg_sys::InvalidOid {
            return Err(Error::argument(
                format!("there is no schema \"{schema}\""),
                "The part of a release lies in a schema of the same name on every server: CREATE SCHEMA makes it.",
            ));
        }
        let bytes = text::from_utf8(name);
        if bytes.is_empty() || bytes.len() >= pg_sys::NAMEDATALEN as usize {
            return Err(Error::argument(
                format!("\"{name}\" cannot be the name of a table"),
                "A name has at most 63 bytes.",
            ));
        }
        let name = Name { schema: found, name: CString::new(bytes).map_err(Error::fault)? };
        match name.refused() {
            Some(refusal) => Err(Error::argument(refusal, "Name a table in a schema of yours.")),
            None => Ok(name),
        }
    }

    fn refused(&self) -> Option<String> {
        // SAFETY: catalog look-ups of a schema that exists; its name is a palloc'd C string.
        unsafe {
            let schema = pg_sys::get_namespace_name(self.schema);
            if pg_sys::isAnyTempNamespace(self.schema) {
                return Some("target is temporary: only this session could read it".into());
            }
            let own = !schema.is_null() && OWN_SCHEMAS.contains(&CStr::from_ptr(schema));
            let systems = schema.is_null() || pg_sys::IsReservedName(schema);
            (own || systems).then(|| {
                format!("target is {}, whose schema is not for tables of users", self.quoted())
            })
        }
    }

    /// Qualified, and quoted by Postgres itself.
    pub fn quoted(&self) -> String {
        // SAFETY: C strings; the result is palloc'd.
        unsafe {
            let schema = pg_sys::get_namespace_name(self.schema);
            text::name(pg_sys::quote_qualified_identifier(schema, self.name.as_ptr()))
        }
    }

    /// Waits until other transactions that publish under this name have ended.
    pub fn wait_for_turn(&self) {
        let mut hasher = DefaultHasher::new();
        self.name.hash(&mut hasher);
        worker::one_publisher_at_a_time(self.schema, hasher.finish() as u32);
        // The caller then looks up what they made.
        // SAFETY: processes catalog changes of other transactions.
        unsafe { pg_sys::AcceptInvalidationMessages() };
    }

    /// The relation of this name.
    pub fn find(&self) -> Option<Oid> {
        // SAFETY: a catalog look-up.
        let found = unsafe { pg_sys::get_relname_relid(self.name.as_ptr(), self.schema) };
        (found != pg_sys::InvalidOid).then_some(found)
    }

    /// Makes the table: only the caller may read it, and its columns have no constraints or defaults. Deletions are
    /// replicated by whole rows, as a release has no key.
    pub fn create(&self, columns: &[NewColumn]) -> Result<Oid, Error> {
        self.create_by(columns, "")
    }

    /// As [`Name::create`], with an access method by its clause.
    pub fn create_by(&self, columns: &[NewColumn], method: &str) -> Result<Oid, Error> {
        let table = self.quoted();
        let columns: Vec<String> = columns.iter().map(NewColumn::definition).collect();
        let columns = columns.join(", ");
        sql::run_as_caller(&format!("CREATE TABLE {table} ({columns}){method}"), &[])?;
        sql::run_as_caller(&format!("ALTER TABLE {table} REPLICA IDENTITY FULL"), &[])?;
        let made = self.find().ok_or(Error::Swapped)?;
        if rights::owner_of(made) != Some(rights::current_user()) {
            return Err(Error::Swapped);
        }
        Ok(made)
    }
}

/// A column of a table to be made.
pub struct NewColumn {
    quoted: String,
    pub name: String,
    pub type_oid: Oid,
    pub typmod: i32,
    collation: Oid,
}

/// A column with the names of its type and collation, to be sent to another server.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedColumn {
    pub name: String,
    #[serde(rename = "type")]
    pub of: String,
    pub typmod: i32,
    pub collation: Option<String>,
}

impl NewColumn {
    /// The column for another server.
    pub fn to_named(&self) -> NamedColumn {
        // SAFETY: a catalog look-up of a type that exists; the name is palloc'd.
        let of = unsafe {
            let flags = pg_sys::FORMAT_TYPE_FORCE_QUALIFY as u16;
            text::name(pg_sys::format_type_extended(self.type_oid, -1, flags))
        };
        let own = ![pg_sys::InvalidOid, pg_sys::DEFAULT_COLLATION_OID].contains(&self.collation);
        let collation = own.then(|| collation_name(self.collation));
        NamedColumn { name: self.name.clone(), of, typmod: self.typmod, collation }
    }

    /// The column of another server, by types and collations of this one.
    pub fn named(column: &NamedColumn) -> Result<Self, Error> {
        let NamedColumn { name, of, typmod, collation } = column;
        let missing = |what: &str, wanted: &str| {
            Error::argument(
                format!("there is no {what} {wanted}, which column \"{name}\" has"),
                "A shard needs the types and collations of the columns under the coordinator's names.",
            )
        };
        let type_oid = found("pg_catalog.to_regtype", of)?.ok_or_else(|| missing("type", of))?;
        let collation = match collation {
            None => pg_sys::InvalidOid,
            Some(own) => found("pg_catalog.to_regcollation", own)?
                .ok_or_else(|| missing("collation", own))?,
        };
        let quoted = identifier(name)?;
        Ok(NewColumn { quoted, name: name.clone(), type_oid, typmod: *typmod, collation })
    }

    /// Columns like those of a relation.
    pub fn like(relation: &Relation) -> Vec<Self> {
        let like = |column: &Column| NewColumn {
            quoted: column.quoted(),
            name: column.name.clone(),
            type_oid: column.type_oid,
            typmod: column.typmod,
            collation: relation.collation(column),
        };
        relation.columns.iter().map(like).collect()
    }

    /// A column of texts.
    pub fn text(name: &str) -> Result<Self, Error> {
        Ok(NewColumn::plain(identifier(name)?, name, pg_sys::TEXTOID))
    }

    fn plain(quoted: String, name: &str, type_oid: Oid) -> Self {
        NewColumn { quoted, name: name.into(), type_oid, typmod: -1, collation: pg_sys::InvalidOid }
    }

    /// The same column in another type.
    pub fn of_type(self, type_oid: Oid) -> Self {
        NewColumn { type_oid, typmod: -1, collation: pg_sys::InvalidOid, ..self }
    }

    /// Columns for the result of a function.
    pub fn of_result(columns: &[(&str, Type)]) -> Result<Vec<Self>, Error> {
        let of = |&(name, of): &(&str, Type)| {
            let type_oid = match of {
                Type::Bool => pg_sys::BOOLOID,
                Type::Int4 => pg_sys::INT4OID,
                Type::Int8 => pg_sys::INT8OID,
                Type::Float8 => pg_sys::FLOAT8OID,
                Type::Numeric => pg_sys::NUMERICOID,
                Type::Text => pg_sys::TEXTOID,
                Type::Json => pg_sys::JSONBOID,
                other => return Err(Error::fault(format!("no column of type {other:?}"))),
            };
            Ok(NewColumn::plain(name.into(), name, type_oid))
        };
        columns.iter().map(of).collect()
    }

    /// The descriptor of rows with these columns, in the current memory context.
    pub(in crate::pg) fn descriptor(columns: &[Self]) -> pg_sys::TupleDesc {
        // SAFETY: as many entries as columns, each of a type and a collation that exist; names are copied.
        unsafe {
            let made = pg_sys::CreateTemplateTupleDesc(columns.len() as i32);
            for (number, column) in (1..).zip(columns) {
                let NewColumn { name, type_oid, typmod, collation, .. } = column;
                let name = text::c_string(name);
                pg_sys::TupleDescInitEntry(made, number, name, *type_oid, *typmod, 0);
                if *collation != pg_sys::InvalidOid {
                    pg_sys::TupleDescInitEntryCollation(made, number, *collation);
                }
            }
            made
        }
    }

    /// As ADD COLUMN has it.
    fn definition(&self) -> String {
        format!("{} {}", self.quoted, self.type_name())
    }

    /// As ALTER COLUMN has it.
    fn retyped(&self) -> String {
        format!("{} TYPE {}", self.quoted, self.type_name())
    }

    /// Its type, with its collation.
    fn type_name(&self) -> String {
        // SAFETY: catalog look-ups of a type and a collation that exist; the names are palloc'd.
        unsafe {
            let flags = pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN | pg_sys::FORMAT_TYPE_FORCE_QUALIFY;
            let of = pg_sys::format_type_extended(self.type_oid, self.typmod, flags as u16);
            let mut name = text::name(of);
            if self.collation != pg_sys::InvalidOid {
                name += &format!(" COLLATE {}", collation_name(self.collation));
            }
            name
        }
    }
}

/// A name, quoted by Postgres itself where needed.
pub fn identifier(name: &str) -> Result<String, Error> {
    let name = CString::new(text::from_utf8(name)).map_err(|_| {
        Error::argument("a name contains a zero byte", "Names of Postgres have none.")
    })?;
    Ok(text::quoted(&name))
}

/// The OID that a function of Postgres finds for a name, if any.
fn found(function: &str, name: &str) -> Result<Option<Oid>, Error> {
    let query = format!("SELECT {function}($1)::pg_catalog.oid::pg_catalog.text");
    let found = sql::texts(&query, &[Text(name.into()).into()])?;
    found.first().filter(|oid| oid.is_some()).map(sql::oid).transpose()
}

/// The name of a collation that exists, qualified and quoted.
fn collation_name(collation: Oid) -> String {
    // SAFETY: the cache has rows of pg_collation by their OIDs; names are C strings.
    let quoted = |form: &pg_sys::FormData_pg_collation| unsafe {
        let schema = pg_sys::get_namespace_name(form.collnamespace);
        text::name(pg_sys::quote_qualified_identifier(schema, form.collname.data.as_ptr()))
    };
    // SAFETY: as above.
    unsafe { cached(SysCacheIdentifier::COLLOID, collation, quoted) }.unwrap_or_default()
}

/// Whom a lock keeps away from a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// Writers, and changes of its definition; reading is possible.
    Write,
    /// All others.
    Drop,
}

/// Locks a table of the caller until the transaction ends. Checks ownership first, so that other roles cannot make
/// anyone wait.
pub fn lock(table: Oid, lock: Lock) -> Result<Relation, Error> {
    let owned = |relation: Relation| match rights::owns(rights::current_user(), table) {
        true => Ok(relation),
        false => Err(Error::NotOwner { relation: relation.name }),
    };
    owned(Relation::row_type(table)?)?;
    let mode = match lock {
        Lock::Write => pg_sys::ShareRowExclusiveLock,
        Lock::Drop => pg_sys::AccessExclusiveLock,
    };
    // SAFETY: waits for a lock; whether the table is still there is seen after that.
    unsafe { pg_sys::LockRelationOid(table, mode as pg_sys::LOCKMODE) };
    let locked = owned(Relation::open(table)?)?;
    // Writers to a partition have to wait as well.
    locked_parts(table, mode);
    Ok(locked)
}

/// The table and all its partitions; the table alone if it is not partitioned.
pub fn parts(table: Oid) -> Vec<Oid> {
    locked_parts(table, pg_sys::NoLock)
}

/// As [`parts`], each locked until the transaction ends.
fn locked_parts(table: Oid, mode: u32) -> Vec<Oid> {
    if is_partitioned(table) { partitions::locked_inheritors(table, mode) } else { vec![table] }
}

/// What a table may be other than an ordinary one without children.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    Alone,
    /// Other tables may inherit from it.
    Parent,
    Partitioned,
    Partition,
}

/// As [`unsuitable`], for a table that may be partitioned, with all its partitions. All must have the same owner:
/// otherwise code on a partition would run with the rights of the table's owner.
pub fn unsuitable_parts(table: Oid) -> Option<String> {
    if !is_partitioned(table) {
        return unsuitable(table, Allowed::Alone);
    }
    unsuitable(table, Allowed::Partitioned).or_else(|| {
        let mut partitions = parts(table).into_iter().filter(|&part| part != table);
        partitions.find_map(|part| {
            let reason =
                unsuitable(part, Allowed::Partition).or_else(|| of_stranger(part, table))?;
            let name = Relation::row_type(part).ok()?.name;
            Some(format!("of its partition {name}, {reason}"))
        })
    })
}

/// Says so if a partition and its table have different owners.
fn of_stranger(part: Oid, table: Oid) -> Option<String> {
    let (author, owner) = (rights::owner_of(part)?, rights::owner_of(table)?);
    let name = || rights::role_name(author).unwrap_or_default();
    (!rights::is_trusted(author, owner))
        .then(|| format!("its owner is another role, \"{}\"", name()))
}

/// Why a locked table is not fit to be written: anything that would run code or hide rows when a release is written.
pub fn unsuitable(table: Oid, allowed: Allowed) -> Option<String> {
    in_use(table, |opened| {
        // SAFETY: the caller holds a lock, so the relation's cache entry is current and stays valid.
        let (form, has_rule) = unsafe { (&*(*opened).rd_rel, !(*opened).rd_rules.is_null()) };
        let in_parts = matches!(allowed, Allowed::Partitioned | Allowed::Partition);
        let is_partitioned = form.relkind as u8 == pg_sys::RELKIND_PARTITIONED_TABLE;
        if form.relkind as u8 != pg_sys::RELKIND_RELATION && !(in_parts && is_partitioned) {
            Some("it is no ordinary table".into())
        } else if form.relispartition && allowed != Allowed::Partition {
            Some("it is a partition".into())
        } else if form.relhassubclass && allowed != Allowed::Parent && !is_partitioned {
            // The flag stays after they are dropped, until the next ANALYZE.
            Some("tables inherit from it, or did until its last ANALYZE".into())
        } else if has_rule {
            Some("it has a rule".into())
        } else if form.relrowsecurity {
            Some("it has row security".into())
        } else {
            // SAFETY: the relation is open.
            foreign_tables::engine_of(table).or_else(|| unsafe { trigger(opened) })
        }
    })
}

/// A trigger that a user made, enabled or not; the internal triggers of foreign keys do not count.
unsafe fn trigger(relation: pg_sys::Relation) -> Option<String> {
    // SAFETY: the relation is open.
    let made = unsafe { triggers(relation) }.iter().find(|trigger| !trigger.tgisinternal)?;
    // SAFETY: the name of a trigger is a C string.
    let quoted = text::quoted(unsafe { CStr::from_ptr(made.tgname) });
    Some(format!("it has the trigger {quoted}"))
}

/// The triggers of an open relation, those of constraints too.
unsafe fn triggers<'a>(relation: pg_sys::Relation) -> &'a [pg_sys::Trigger] {
    // SAFETY: the relation is open, and its list of triggers has as many entries as it says.
    unsafe {
        match (*relation).trigdesc.as_ref() {
            Some(all) => std::slice::from_raw_parts(all.triggers, all.numtriggers as usize),
            None => &[],
        }
    }
}

/// Why the rows of a locked table cannot be replaced by others: a foreign key that refers to it would change other rows
/// or raise an error; a deferrable constraint could be checked at commit, with the rights of the role that commits.
pub fn bound(table: Oid) -> Option<String> {
    // SAFETY: the caller holds a lock, so the list of triggers stays.
    in_use(table, |opened| unsafe {
        triggers(opened).iter().find_map(|trigger| {
            if pg_sys::RI_FKey_trigger_type(trigger.tgfoid) == pg_sys::RI_TRIGGER_PK as i32 {
                Some("a foreign key refers to it".into())
            } else {
                trigger.tgdeferrable.then(|| "it has a deferrable constraint".into())
            }
        })
    })
}

/// How the columns of a table differ from those that it should have, considering only those that matter.
pub fn difference(
    table: &Relation,
    columns: &[NewColumn],
    matters: impl Fn(&str) -> bool,
) -> Option<String> {
    for wanted in columns.iter().filter(|wanted| matters(&wanted.name)) {
        match table.columns.iter().find(|column| column.name == wanted.name) {
            None => return Some(format!("it has no column \"{}\"", wanted.name)),
            Some(column)
                if (column.type_oid, column.typmod) != (wanted.type_oid, wanted.typmod) =>
            {
                return Some(format!("its column \"{}\" is of another type", wanted.name));
            }
            Some(_) => {}
        }
    }
    let mut own = table.columns.iter().filter(|column| matters(&column.name));
    let more = own.find(|column| columns.iter().all(|c| c.name != column.name));
    more.map(|column| format!("its column \"{}\" is not in the source", column.name))
}

/// Changes the columns of a locked table of the caller that has no rows. Columns that remain keep their rights and
/// indexes, even if their type changes; nothing may depend on columns that are dropped.
pub fn reshape(table: &Relation, columns: &[NewColumn]) -> Result<(), Error> {
    let is_same = |own: &Column, wanted: &NewColumn| {
        (own.type_oid, own.typmod) == (wanted.type_oid, wanted.typmod)
    };
    let stays = |own: &&Column| columns.iter().any(|wanted| own.name == wanted.name);
    let gone = table.columns.iter().filter(|own| !stays(own));
    let gone = gone.map(|own| format!("DROP COLUMN {} RESTRICT", own.quoted()));
    let made = columns.iter().filter_map(|wanted| {
        match table.columns.iter().find(|own| own.name == wanted.name) {
            None => Some(format!("ADD COLUMN {}", wanted.definition())),
            Some(own) if is_same(own, wanted) => None,
            // There are no rows to convert.
            Some(_) => Some(format!("ALTER COLUMN {} USING NULL", wanted.retyped())),
        }
    });
    let changes: Vec<String> = gone.chain(made).collect();
    sql::run_as_caller(&format!("ALTER TABLE {} {}", table.from(), changes.join(", ")), &[])
}

/// Gives columns the comments of the source's columns.
pub fn copy_comments(source: &Relation, table: &Relation) {
    for column in &source.columns {
        let Some(own) = table.columns.iter().find(|own| own.name == column.name) else { continue };
        let class = pg_sys::RelationRelationId;
        // SAFETY: look-ups and changes in the catalog of comments, of columns that exist.
        unsafe {
            let comment = pg_sys::GetComment(source.oid, class, column.number.into());
            if !comment.is_null() {
                pg_sys::CreateComments(table.oid, class, own.number.into(), comment);
            }
        }
    }
}

/// Sets the comment of a table of the caller's.
pub fn comment(table: Oid, comment: &str) {
    // SAFETY: a change in the catalog of comments; the text is palloc'd.
    unsafe {
        let class = pg_sys::RelationRelationId;
        pg_sys::CreateComments(table, class, 0, text::c_string(comment));
    }
}

/// Whether a name, qualified or not, is that of the relation: as it is, or quoted where it must be.
pub fn is_called(relation: &Relation, name: &str) -> bool {
    let Some(plain) = relation.own_name() else { return false };
    let quoted = identifier(&plain).unwrap_or_default();
    [plain, quoted, relation.from()].iter().any(|own| own == name)
}

/// The schemas of the extension.
const OWN_SCHEMAS: [&CStr; 2] = [c"sanitize", c"sanitize_internal"];

/// True for tables of the system's own schemas and of the extension.
pub fn is_systems(table: Oid) -> bool {
    // SAFETY: catalog look-ups of a relation that exists; the name is a palloc'd C string.
    unsafe {
        let schema_oid = pg_sys::get_rel_namespace(table);
        let schema = pg_sys::get_namespace_name(schema_oid);
        schema.is_null()
            || (pg_sys::IsReservedName(schema) && !pg_sys::isTempNamespace(schema_oid))
            || CStr::from_ptr(schema) == c"information_schema"
            || OWN_SCHEMAS.contains(&CStr::from_ptr(schema))
    }
}

/// Refuses a locked table that a query of this session reads at the moment, or whose constraints wait to be
/// checked.
pub fn refuse_in_use(table: Oid, verb: &CStr) {
    // SAFETY: the table is locked; raises Postgres' own error.
    in_use(table, |opened| unsafe { pg_sys::CheckTableNotInUse(opened, verb.as_ptr()) })
}

/// Runs `work` while the locked table is in use: meanwhile [`refuse_in_use`] refuses this table.
pub fn in_use<T>(table: Oid, work: impl FnOnce(pg_sys::Relation) -> T) -> T {
    // SAFETY: the table is locked; an error that unwinds leaves closing to the end of the transaction.
    let opened = unsafe { pg_sys::relation_open(table, pg_sys::NoLock as pg_sys::LOCKMODE) };
    let done = work(opened);
    // SAFETY: opened above.
    unsafe { pg_sys::relation_close(opened, pg_sys::NoLock as pg_sys::LOCKMODE) };
    done
}

/// Drops a table that the caller has locked, unless something depends on it.
pub fn drop(table: &Relation) -> Result<(), Error> {
    sql::run_as_caller(&format!("DROP TABLE {} RESTRICT", table.from()), &[])?;
    match rights::owner_of(table.oid) {
        None => Ok(()),
        Some(_) => Err(Error::Swapped),
    }
}

/// Raises an error in a read-only transaction.
pub fn refuse_read_only(function: &CStr) {
    // SAFETY: raises Postgres' own error.
    unsafe { pg_sys::PreventCommandIfReadOnly(function.as_ptr()) }
}
