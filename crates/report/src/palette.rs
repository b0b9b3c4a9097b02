//! The colours of light and dark mode, with their contrasts.

/// A colour as red, green and blue.
#[derive(Clone, Copy)]
pub struct Colour(pub u8, pub u8, pub u8);

/// The colours of a theme by purpose. Text has a contrast of at least 4.5 to its background, graphics of at least 3
/// (WCAG 2.2, 1.4.3 and 1.4.11).
pub struct Palette {
    pub page: Colour,
    /// Boxes on the page.
    pub surface: Colour,
    pub ink: Colour,
    pub muted: Colour,
    /// Separating lines without a meaning.
    pub line: Colour,
    /// The original, the release and a second candidate.
    pub before: Colour,
    pub after: Colour,
    pub other: Colour,
    pub good: Colour,
    pub fair: Colour,
    pub poor: Colour,
}

/// The largest opacity of a cell in a table of counts, so that its number stays readable.
pub const FULLEST: f64 = 0.45;

pub const LIGHT: Palette = Palette {
    page: Colour(0xff, 0xff, 0xff),
    surface: Colour(0xf4, 0xf6, 0xf8),
    ink: Colour(0x1a, 0x1f, 0x26),
    muted: Colour(0x54, 0x5d, 0x68),
    line: Colour(0xd5, 0xdb, 0xe1),
    before: Colour(0x7d, 0x87, 0x93),
    after: Colour(0x0f, 0x62, 0xac),
    other: Colour(0xb4, 0x52, 0x0f),
    good: Colour(0x1b, 0x6e, 0x35),
    fair: Colour(0x8a, 0x54, 0x00),
    poor: Colour(0xb0, 0x22, 0x1b),
};

pub const DARK: Palette = Palette {
    page: Colour(0x12, 0x16, 0x1b),
    surface: Colour(0x1b, 0x21, 0x29),
    ink: Colour(0xe9, 0xed, 0xf2),
    muted: Colour(0xa8, 0xb3, 0xbf),
    line: Colour(0x34, 0x3d, 0x48),
    before: Colour(0x8c, 0x97, 0xa4),
    after: Colour(0x5f, 0xac, 0xf2),
    other: Colour(0xf2, 0x9b, 0x5c),
    good: Colour(0x57, 0xc2, 0x77),
    fair: Colour(0xe3, 0xb3, 0x41),
    poor: Colour(0xff, 0x8f, 0x82),
};

impl Palette {
    /// The colours as custom properties.
    pub fn properties(&self) -> String {
        let colours = [
            ("page", self.page),
            ("surface", self.surface),
            ("ink", self.ink),
            ("muted", self.muted),
            ("line", self.line),
            ("before", self.before),
            ("after", self.after),
            ("other", self.other),
            ("good", self.good),
            ("fair", self.fair),
            ("poor", self.poor),
        ];
        let property = |(name, Colour(r, g, b))| format!("--{name}:#{r:02x}{g:02x}{b:02x};");
        colours.into_iter().map(property).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(Colour(r, g, b): Colour) -> f64 {
        let linear = |channel: u8| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    fn contrast(a: Colour, b: Colour) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn mixed(Colour(r, g, b): Colour, share: f64, Colour(x, y, z): Colour) -> Colour {
        let mix = |over: u8, under: u8| {
            (f64::from(over) * share + f64::from(under) * (1.0 - share)).round() as u8
        };
        Colour(mix(r, x), mix(g, y), mix(b, z))
    }

    #[test]
    fn contrast_is_that_of_the_guidelines() {
        let (black, white) = (Colour(0, 0, 0), Colour(255, 255, 255));
        assert!((contrast(black, white) - 21.0).abs() < 1e-9);
        assert!((contrast(Colour(0x77, 0x77, 0x77), white) - 4.478).abs() < 1e-3);
    }

    #[test]
    fn everything_can_be_seen() {
        for palette in [&LIGHT, &DARK] {
            for under in [palette.page, palette.surface] {
                for text in [palette.ink, palette.muted, palette.good, palette.fair, palette.poor] {
                    assert!(contrast(text, under) >= 4.5, "{}", contrast(text, under));
                }
                for drawn in [palette.before, palette.after, palette.other] {
                    assert!(contrast(drawn, under) >= 3.0, "{}", contrast(drawn, under));
                    let fullest = mixed(drawn, FULLEST, under);
                    assert!(contrast(palette.ink, fullest) >= 4.5);
                }
            }
        }
    }
}
