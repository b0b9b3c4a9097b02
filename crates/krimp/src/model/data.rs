//! A bag with the texts of its values, for comparisons with a model, whose values are texts.

use table::Bag;

/// A bag and its values as texts.
#[derive(Clone, Copy)]
pub struct Data<'a> {
    bag: &'a Bag,
    /// By column and code; `None` if the values are UTF-8.
    texts: Option<&'a [Vec<Option<String>>]>,
}

impl<'a> From<&'a Bag> for Data<'a> {
    /// A bag whose values are UTF-8.
    fn from(bag: &'a Bag) -> Self {
        Data { bag, texts: None }
    }
}

impl<'a> Data<'a> {
    /// A bag whose values are in another encoding, with their texts by column and code: `None` for a value that has
    /// no text.
    pub fn decoded(bag: &'a Bag, texts: &'a [Vec<Option<String>>]) -> Self {
        Data { bag, texts: Some(texts) }
    }

    pub(super) fn bag(&self) -> &'a Bag {
        self.bag
    }

    /// The text of a value.
    pub(super) fn text(&self, column: usize, code: usize) -> Option<&'a str> {
        match self.texts {
            None => std::str::from_utf8(self.bag.domain(column).value(code as u32)).ok(),
            Some(texts) => texts[column][code].as_deref(),
        }
    }
}
