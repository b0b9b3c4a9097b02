//! Whose rights a piece of work has.

use super::syscache::cached;
use crate::pg::prelude::*;
use pgrx::pg_sys::AclResult::ACLCHECK_OK;
use pgrx::pg_sys::SysCacheIdentifier;
use std::ffi::CStr;

/// Runs `work` with the rights of `role` and in a security-restricted operation: code that the data's owner wrote
/// (functions in views, defaults, triggers) cannot affect the caller's session. Settings that could change what a
/// statement means, and messages to the client, are pinned.
///
/// If an error unwinds, the abort of the transaction restores the rights.
pub fn with_rights_of<T>(role: Oid, work: impl FnOnce() -> T) -> T {
    // SAFETY: user, context and settings are put back as they were found; errors unwind past this
    // frame into the abort, which restores all three.
    unsafe {
        let (mut user, mut context) = (pg_sys::InvalidOid, 0);
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        let restricted =
            pg_sys::SECURITY_RESTRICTED_OPERATION | pg_sys::SECURITY_LOCAL_USERID_CHANGE;
        let level = pg_sys::NewGUCNestLevel();
        pg_sys::SetUserIdAndSecContext(role, context | restricted as i32);
        pin(&[
            (c"search_path", c"pg_catalog, pg_temp"),
            (c"client_min_messages", c"error"),
            (c"row_security", c"on"),
        ]);
        let result = work();
        pg_sys::AtEOXact_GUC(false, level);
        pg_sys::SetUserIdAndSecContext(user, context);
        result
    }
}

/// Runs `work`, which reads or checks a value of the type. Functions in the type may run then, and none of them gets
/// rights that its author does not have: they run with those of the author, unless that is the caller or a superuser.
/// Raises an error if there are several authors, the caller included: functions of one author would run with the rights
/// of another.
pub fn with_rights_for_type<T>(type_oid: Oid, work: impl FnOnce() -> T) -> T {
    with_rights_of_authors(type_oid, &types::authors(type_oid), work)
}

/// As [`with_rights_for_type`], for a type of which [`types::authors`] are known.
pub fn with_rights_of_authors<T>(type_oid: Oid, authors: &[Oid], work: impl FnOnce() -> T) -> T {
    let mut plain = authors.iter().filter(|&&author| !is_superuser(author));
    match (plain.next(), plain.next()) {
        (None, _) => work(),
        (Some(&author), None) if author == current_user() => work(),
        (Some(&author), None) => with_rights_of(author, work),
        (Some(_), Some(_)) => Error::Authors { of: types::name(type_oid) }.raise(),
    }
}

/// True if code of `author` may run with the rights of `role`: both are the same role, or the author is a superuser,
/// who has these rights anyway.
pub fn is_trusted(author: Oid, role: Oid) -> bool {
    author == role || is_superuser(author)
}

/// Runs `work` with fixed formats for dates and numbers, independent of the session's settings.
pub fn with_fixed_formats<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    with_settings(&[(c"TimeZone", c"UTC")], || with_local_formats(work))
}

/// As [`with_fixed_formats`], but in the session's time zone: days then begin at the same time as when values were made
/// coarser.
pub fn with_local_formats<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let formats = [
        (c"DateStyle", c"ISO, MDY"),
        (c"IntervalStyle", c"postgres"),
        (c"extra_float_digits", c"1"),
        (c"bytea_output", c"hex"),
        (c"lc_monetary", c"C"),
    ];
    with_settings(&formats, work)
}

/// Runs `work` with settings that any user may set.
fn with_settings<T>(
    settings: &[(&CStr, &CStr)],
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    // SAFETY: the settings are put back as they were found, by the abort if an error unwinds.
    unsafe {
        let level = pg_sys::NewGUCNestLevel();
        pin(settings);
        let result = work();
        pg_sys::AtEOXact_GUC(false, level);
        result
    }
}

/// Runs `work` with the caller's rights, but with a search path into whose schemas users cannot put objects.
pub fn with_fixed_names<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    with_settings(&[(c"search_path", c"pg_catalog, pg_temp")], work)
}

/// Runs `work` without compiling its queries: those that follow links through the catalog seem expensive to the planner,
/// and compiling them takes seconds.
pub fn without_compiling<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    with_settings(&[(c"jit", c"off")], work)
}

/// Sets settings until the current nest level ends.
unsafe fn pin(settings: &[(&CStr, &CStr)]) {
    for (name, value) in settings {
        // SAFETY: constant C strings; the setting is one that any user may set.
        unsafe {
            pg_sys::set_config_option(
                name.as_ptr(),
                value.as_ptr(),
                pg_sys::GucContext::PGC_USERSET,
                pg_sys::GucSource::PGC_S_SESSION,
                pg_sys::GucAction::GUC_ACTION_SAVE,
                true,
                0,
                false,
            );
        }
    }
}

/// True if the transaction sees the database as it was when it began (REPEATABLE READ, SERIALIZABLE).
pub fn has_fixed_snapshot() -> bool {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32 }
}

/// The role whose rights the caller has at the moment.
pub fn current_user() -> Oid {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::GetUserId() }
}

/// The role that logged in, or that SET SESSION AUTHORIZATION set.
pub fn session_user() -> Oid {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::GetSessionUserId() }
}

/// True for superusers.
pub fn is_superuser(role: Oid) -> bool {
    // SAFETY: a catalog look-up.
    unsafe { pg_sys::superuser_arg(role) }
}

/// True if the role may log in.
pub fn may_log_in(role: Oid) -> bool {
    let may = |role: &pg_sys::FormData_pg_authid| role.rolcanlogin;
    // SAFETY: the cache has rows of pg_authid by their OIDs.
    unsafe { cached(SysCacheIdentifier::AUTHOID, role, may) }.unwrap_or(false)
}

/// True if `role` owns the relation, through membership too, or is a superuser.
pub fn owns(role: Oid, relation: Oid) -> bool {
    // SAFETY: a catalog look-up; false for a relation that does not exist is decided before.
    unsafe {
        #[cfg(any(feature = "pg14", feature = "pg15"))]
        return pg_sys::pg_class_ownercheck(relation, role);
        #[cfg(not(any(feature = "pg14", feature = "pg15")))]
        return pg_sys::object_ownercheck(pg_sys::RelationRelationId, relation, role);
    }
}

/// True if the current user may call the function.
pub fn may_execute(function: Oid) -> bool {
    let right = pg_sys::ACL_EXECUTE as pg_sys::AclMode;
    // SAFETY: a catalog look-up.
    let granted = unsafe {
        #[cfg(any(feature = "pg14", feature = "pg15"))]
        let granted = pg_sys::pg_proc_aclcheck(function, current_user(), right);
        #[cfg(not(any(feature = "pg14", feature = "pg15")))]
        let granted =
            pg_sys::object_aclcheck(pg_sys::ProcedureRelationId, function, current_user(), right);
        granted
    };
    granted == ACLCHECK_OK
}

/// The right to read.
const SELECT: pg_sys::AclMode = pg_sys::ACL_SELECT as pg_sys::AclMode;

/// True if the current user may read the relation as a whole.
pub fn may_read(relation: Oid) -> bool {
    // SAFETY: a catalog look-up.
    unsafe { pg_sys::pg_class_aclcheck(relation, current_user(), SELECT) == ACLCHECK_OK }
}

/// True if the current user may read the column of the relation, alone or as part of the whole.
pub fn may_read_column(relation: Oid, column: i16) -> bool {
    // SAFETY: a catalog look-up.
    let alone =
        || unsafe { pg_sys::pg_attribute_aclcheck(relation, column, current_user(), SELECT) };
    may_read(relation) || alone() == ACLCHECK_OK
}

/// True if the current user may read the relation, or some of its columns.
pub fn may_read_some(relation: Oid) -> bool {
    let any = pg_sys::AclMaskHow::ACLMASK_ANY;
    // SAFETY: a catalog look-up.
    let some =
        || unsafe { pg_sys::pg_attribute_aclcheck_all(relation, current_user(), SELECT, any) };
    may_read(relation) || some() == ACLCHECK_OK
}

/// True if `role` is `group` or a member of it; being a superuser does not count.
pub fn is_member(role: Oid, group: Oid) -> bool {
    // SAFETY: a catalog look-up.
    unsafe { pg_sys::is_member_of_role_nosuper(role, group) }
}

/// The name of a role, `None` if there is none.
pub fn role_name(role: Oid) -> Option<String> {
    // SAFETY: returns null or a palloc'd C string.
    unsafe { text::of_c(pg_sys::GetUserNameFromId(role, true)) }
}

/// The owner of a relation that exists.
pub fn owner_of(relation: Oid) -> Option<Oid> {
    let owner = |class: &pg_sys::FormData_pg_class| class.relowner;
    // SAFETY: the cache has rows of pg_class by their OIDs.
    unsafe { cached(SysCacheIdentifier::RELOID, relation, owner) }
}

/// The owner of the extension's tables, whose rights it takes to write them.
pub fn extension_owner() -> Result<Oid, Error> {
    // SAFETY: catalog look-ups by name.
    let table = unsafe {
        let schema = pg_sys::get_namespace_oid(c"sanitize".as_ptr(), true);
        pg_sys::get_relname_relid(c"protection".as_ptr(), schema)
    };
    owner_of(table).ok_or_else(|| Error::query("the extension's tables are missing"))
}

/// Runs `work` with the rights to the extension's own tables.
pub fn with_extension_rights<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    with_rights_of(extension_owner()?, work)
}
