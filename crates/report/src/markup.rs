//! Writes HTML elements and text. Names of elements and attributes are constants, and everything inside them is
//! escaped.

use std::fmt::{Display, Write};

/// A page, or a part of it, while it is written.
#[derive(Default)]
pub struct Markup {
    text: String,
}

/// An attribute of an element.
pub type Attribute<'a> = (&'static str, &'a dyn Display);

impl Markup {
    /// The beginning of a document.
    pub fn document() -> Self {
        Markup { text: String::from("<!DOCTYPE html>\n") }
    }

    /// An element with the contents that `inside` writes.
    pub fn element(
        &mut self,
        name: &'static str,
        attributes: &[Attribute<'_>],
        inside: impl FnOnce(&mut Markup),
    ) {
        self.open(name, attributes);
        inside(self);
        self.text += "</";
        self.text += name;
        self.text += ">";
    }

    /// An element with text in it.
    pub fn leaf(&mut self, name: &'static str, attributes: &[Attribute<'_>], text: impl Display) {
        self.element(name, attributes, |markup| markup.text(text));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: impl Display) {
        self.leaf("p", &[], text);
    }

    /// A paragraph beside the matter.
    pub fn remark(&mut self, text: impl Display) {
        self.leaf("p", &[("class", &"muted")], text);
    }

    /// An element without an end tag: meta, link, br.
    pub fn open(&mut self, name: &'static str, attributes: &[Attribute<'_>]) {
        self.text += "<";
        self.text += name;
        for (name, value) in attributes {
            self.text += " ";
            self.text += name;
            self.text += "=\"";
            self.text(value);
            self.text += "\"";
        }
        self.text += ">";
    }

    /// Any text, escaped.
    pub fn text(&mut self, text: impl Display) {
        // Writing to a string cannot fail.
        let _ = write!(Escaped(&mut self.text), "{text}");
    }

    /// The style sheet, which is a constant.
    pub fn style(&mut self, sheet: &str) {
        debug_assert!(!sheet.contains('<'));
        self.text += "<style>";
        self.text += sheet;
        self.text += "</style>";
    }

    pub fn finish(self) -> String {
        self.text
    }
}

/// Writes characters with a meaning in HTML, in text or in an attribute, as references. Invisible characters, and
/// those that change the direction of text, are replaced. The page is ASCII, so it is the same in every encoding.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\t' | '\n' | '\r' => self.0.push(' '),
                c if c.is_control() || turns(c) => self.0.push_str("&#65533;"),
                c if c.is_ascii() => self.0.push(c),
                c => write!(self.0, "&#{};", u32::from(c))?,
            }
        }
        Ok(())
    }
}

/// True for marks that change the direction of the text around them.
fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_is_text() {
        let mut markup = Markup::default();
        let hostile = "\"><img src=x onerror='alert(1)'>&\u{202e}\u{1}";
        markup.leaf("p", &[("title", &hostile)], "<script>alert(1)</script>");
        let written = markup.finish();
        let safe = "&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;&#65533;&#65533;";
        let expected = format!("<p title=\"{safe}\">&lt;script&gt;alert(1)&lt;/script&gt;</p>");
        assert_eq!(written, expected);
    }
}
