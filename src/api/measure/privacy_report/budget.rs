//! What the caller may see of the original's budget.

use crate::api::prelude::*;
use report::Account;

/// What is spent of the relation's budget: nothing if it is not protected, or if the view does not show it
/// to the caller.
pub fn accounts(relation: Oid) -> Result<Vec<Account>> {
    let rows = sql::texts(ACCOUNTS, &[relation.into()])?;
    let rows = rows.into_iter().flatten();
    rows.map(|row| serde_json::from_str(&row).map_err(Error::fault)).collect()
}

const ACCOUNTS: &str = "SELECT pg_catalog.json_build_object('grantee', grantee::pg_catalog.text,
        'epsilon', epsilon, 'epsilon_spent', epsilon_spent,
        'delta', delta, 'delta_spent', delta_spent)::pg_catalog.text
    FROM sanitize.budget WHERE source::pg_catalog.oid OPERATOR(pg_catalog.=) $1
    ORDER BY grantee::pg_catalog.text NULLS FIRST";
