//! The colours of light and dark mode, with their contrasts.

/// The colours by purpose, each in light and in dark mode, as red, green and blue. Text has a contrast of at least 4.5
/// to its background, graphics of at least 3 (WCAG 2.2, 1.4.3 and 1.4.11).
const COLOURS: [(&str, u32, u32); 11] = [
    ("page", 0xffffff, 0x12161b),
    // Boxes on the page.
    ("surface", 0xf4f6f8, 0x1b2129),
    ("ink", 0x1a1f26, 0xe9edf2),
    ("muted", 0x545d68, 0xa8b3bf),
    // Separating lines without a meaning.
    ("line", 0xd5dbe1, 0x343d48),
    // The original, the release and a second candidate.
    ("before", 0x7d8793, 0x8c97a4),
    ("after", 0x0f62ac, 0x5facf2),
    ("other", 0xb4520f, 0xf29b5c),
    ("good", 0x1b6e35, 0x57c277),
    ("fair", 0x8a5400, 0xe3b341),
    ("poor", 0xb0221b, 0xff8f82),
];

/// The colours of light or dark mode as custom properties.
pub fn properties(dark: bool) -> String {
    let property = |&(name, in_light, in_dark): &(&str, u32, u32)| {
        format!("--{name}:#{:06x};", if dark { in_dark } else { in_light })
    };
    COLOURS.iter().map(property).collect()
}

/// The largest opacity of a cell in a table of counts, so that its number stays readable.
pub const FULLEST: f64 = 0.45;

#[cfg(test)]
mod tests {
    use super::*;

    /// A colour as red, green and blue.
    #[derive(Clone, Copy)]
    struct Colour(u8, u8, u8);

    /// A colour of light or dark mode.
    fn colour(name: &str, dark: bool) -> Colour {
        let (_, in_light, in_dark) = COLOURS.iter().find(|(other, ..)| *other == name).unwrap();
        let [_, r, g, b] = if dark { in_dark } else { in_light }.to_be_bytes();
        Colour(r, g, b)
    }

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
        for dark in [false, true] {
            let of = |names: [&'static str; 3]| names.map(|name| colour(name, dark));
            let [page, surface, ink] = of(["page", "surface", "ink"]);
            let [good, fair, poor] = of(["good", "fair", "poor"]);
            for under in [page, surface] {
                for text in [ink, colour("muted", dark), good, fair, poor] {
                    assert!(contrast(text, under) >= 4.5, "{}", contrast(text, under));
                }
                for drawn in of(["before", "after", "other"]) {
                    assert!(contrast(drawn, under) >= 3.0, "{}", contrast(drawn, under));
                    let fullest = mixed(drawn, FULLEST, under);
                    assert!(contrast(ink, fullest) >= 4.5);
                }
            }
        }
    }
}
