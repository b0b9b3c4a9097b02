//! jsonb: values, and itemsets as objects.

use crate::pg::prelude::*;
use crate::pg::read::cell::MAX_DATUM;
use pgrx::direct_function_call_as_datum;
use pgrx::pg_sys::JsonbIteratorToken as Token;
use serde_json::Value;
use std::ffi::CStr;
use table::{Bag, Item};

/// Bytes of memory that a byte of text may take once it is parsed: a short number in an array takes the most.
const PARSED: u64 = 20;

/// The text of a jsonb value.
pub fn text(value: Datum) -> Result<Option<String>, Error> {
    let limit = settings::max_memory();
    // SAFETY: jsonb_out takes one jsonb and returns a C string in the database's encoding.
    unsafe {
        check_length(value, limit)?;
        let Some(text) = direct_function_call_as_datum(pg_sys::jsonb_out, &[Some(value)]) else {
            return Ok(None);
        };
        let text = text.cast_mut_ptr::<std::ffi::c_char>();
        let bytes = CStr::from_ptr(text).to_bytes();
        if bytes.len() as u64 * PARSED > limit {
            return Err(Error::Memory { limit });
        }
        let utf8 = text::to_utf8(bytes);
        pg_sys::pfree(text.cast());
        Ok(Some(utf8))
    }
}

/// Refuses a value whose text would not fit into memory once it is parsed, before the text is made: a number such
/// as 1e131071 takes a few bytes and has a text of 131072.
///
/// # Safety
/// `value` is a jsonb.
unsafe fn check_length(value: Datum, limit: u64) -> Result<(), Error> {
    let mut length = 0;
    // SAFETY: the iterator reads the value, which is whole once it is detoasted; the type of a token says which part of
    // the union is valid.
    unsafe {
        let given = value.cast_mut_ptr();
        let whole = pg_sys::pg_detoast_datum(given);
        let mut part = std::mem::zeroed::<pg_sys::JsonbValue>();
        let root = &raw mut (*whole.cast::<pg_sys::Jsonb>()).root;
        let mut iterator = pg_sys::JsonbIteratorInit(root);
        let mut tokens = 0u64;
        loop {
            let token = pg_sys::JsonbIteratorNext(&mut iterator, &mut part, false);
            tokens += 1;
            if tokens.is_multiple_of(1024) {
                pgrx::check_for_interrupts!();
            }
            length += match token {
                Token::WJB_DONE => break,
                Token::WJB_KEY | Token::WJB_VALUE | Token::WJB_ELEM => text_length(&part)?,
                _ => 2,
            };
            if length * PARSED > limit {
                return Err(Error::Memory { limit });
            }
        }
        if whole != given {
            pg_sys::pfree(whole.cast());
        }
    }
    Ok(())
}

/// About how long the text of a key or a scalar is.
///
/// # Safety
/// `part` is what the iterator has just given.
unsafe fn text_length(part: &pg_sys::JsonbValue) -> Result<u64, Error> {
    // SAFETY: the type says which part of the union there is.
    unsafe {
        Ok(match part.type_ {
            pg_sys::jbvType::jbvString => part.val.string.len as u64 + 4,
            pg_sys::jbvType::jbvNumeric => {
                let number = Datum::from(part.val.numeric);
                let text = direct_function_call_as_datum(pg_sys::numeric_out, &[Some(number)])
                    .ok_or_else(|| Error::Broken { what: "a number has no text".into() })?;
                let text = text.cast_mut_ptr::<std::ffi::c_char>();
                let length = CStr::from_ptr(text).count_bytes() as u64;
                pg_sys::pfree(text.cast());
                length + 2
            }
            _ => 6,
        })
    }
}

/// The JSON value of a text.
pub fn parse(text: &str, argument: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|error| {
        Error::argument(
            format!("{argument} cannot be read: {error}"),
            "Numbers must fit into double precision, and values be nested less than 128 deep.",
        )
    })
}

/// A jsonb value in the current memory context.
pub fn datum(value: &Value) -> Result<Datum, Error> {
    let text = value.to_string();
    if text.len() > MAX_DATUM {
        return Err(Error::TooLarge { what: "jsonb value", bytes: text.len() });
    }
    let text = text::c_string(&text);
    // SAFETY: jsonb_in takes one C string in the database's encoding.
    unsafe {
        let made = direct_function_call_as_datum(pg_sys::jsonb_in, &[Some(text.into())]);
        pg_sys::pfree(text.cast());
        made.ok_or_else(|| Error::Broken { what: "a jsonb value is NULL".into() })
    }
}

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

    /// The items of a distinct row of the bag.
    pub fn row(&self, row: usize) -> Datum {
        self.datum(&Bag::row_items(self.bag.row(row)).collect::<Vec<_>>())
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
