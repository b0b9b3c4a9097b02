//! Itemsets as jsonb objects.

use super::text;
use pgrx::pg_sys::{self, Datum, JsonbIteratorToken as Token};
use table::{Bag, Item};

/// Builds `{"column": "value", …}`; the keys are converted to the database's encoding once.
pub struct ItemsetJson<'a> {
    bag: &'a Bag,
    keys: Vec<Vec<u8>>,
}

impl<'a> ItemsetJson<'a> {
    pub fn new(bag: &'a Bag) -> Self {
        let keys = bag.domains().iter().map(|d| text::from_utf8(d.name())).collect();
        ItemsetJson { bag, keys }
    }

    /// The itemset as jsonb, in the current memory context.
    pub fn datum(&self, items: &[Item]) -> Datum {
        // SAFETY: the state lives on this stack frame; the strings pushed outlive the conversion,
        // which copies them into the jsonb value.
        unsafe {
            let mut state = std::ptr::null_mut();
            pg_sys::pushJsonbValue(&mut state, Token::WJB_BEGIN_OBJECT, std::ptr::null_mut());
            for item in items {
                let mut key = string(&self.keys[item.column as usize]);
                pg_sys::pushJsonbValue(&mut state, Token::WJB_KEY, &mut key);
                let mut value = string(self.bag.domain(item.column as usize).value(item.code));
                pg_sys::pushJsonbValue(&mut state, Token::WJB_VALUE, &mut value);
            }
            let object =
                pg_sys::pushJsonbValue(&mut state, Token::WJB_END_OBJECT, std::ptr::null_mut());
            pg_sys::JsonbValueToJsonb(object).into()
        }
    }
}

fn string(bytes: &[u8]) -> pg_sys::JsonbValue {
    pg_sys::JsonbValue {
        type_: pg_sys::jbvType::jbvString,
        val: pg_sys::JsonbValue__bindgen_ty_1 {
            string: pg_sys::JsonbValue__bindgen_ty_1__bindgen_ty_1 {
                len: bytes.len() as i32,
                val: bytes.as_ptr().cast_mut().cast(),
            },
        },
    }
}
