//! The bounds of a measure in steps, computed exactly from decimals.

use crate::Error;
use crate::measure::bad;
use aggregate::{Range, Step};
use serde_json::{Map, Value};

/// A decimal number, mantissa / 10^scale.
pub type Decimal = (i128, u32);

fn decimal_of(value: &Value) -> Option<Decimal> {
    match value.as_i64() {
        Some(number) => decimal(&number.to_string()),
        None => decimal(&format!("{}", value.as_f64()?)),
    }
}

pub fn decimal(text: &str) -> Option<Decimal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 15 || whole.len() > 20 {
        return None;
    }
    Some((format!("{whole}{fraction}").parse().ok()?, fraction.len() as u32))
}

pub fn part(name: &str, object: &Map<String, Value>, part: &str) -> Result<Option<Decimal>, Error> {
    match object.get(part) {
        None => Ok(None),
        Some(value) => decimal_of(value)
            .map(Some)
            .ok_or_else(|| bad(format!("{part} of measure \"{name}\" is {value}"))),
    }
}

pub fn step(name: &str, object: &Map<String, Value>) -> Result<Option<Step>, Error> {
    match part(name, object, "step")? {
        None => Ok(None),
        Some((mantissa, scale)) => match u64::try_from(mantissa) {
            Ok(mantissa) if mantissa > 0 => Ok(Some(Step { mantissa, scale })),
            _ => Err(bad(format!("step of measure \"{name}\" is not above 0"))),
        },
    }
}

/// The range between two decimals, which are moved outwards to the next step.
pub fn range(
    name: &str,
    low: Decimal,
    high: Decimal,
    step: Option<Step>,
    is_integer: bool,
) -> Result<Range, Error> {
    let number = |(mantissa, scale): Decimal| mantissa as f64 / 10f64.powi(scale as i32);
    let step = step.unwrap_or_else(|| default_step(number(low), number(high), is_integer));
    // Bounds that are no multiple of the step are moved outwards to the next.
    let steps = |(mantissa, scale): Decimal, up: bool| -> Option<i64> {
        let over = mantissa.checked_mul(10i128.checked_pow(step.scale)?)?;
        let under = i128::from(step.mantissa).checked_mul(10i128.checked_pow(scale)?)?;
        let floor = over.div_euclid(under);
        i64::try_from(if up && over.rem_euclid(under) != 0 { floor + 1 } else { floor }).ok()
    };
    let bounds = steps(low, false).zip(steps(high, true));
    let range = bounds.and_then(|(low, high)| Range::new(low, high, step).ok());
    range.ok_or_else(|| {
        bad(format!(
            "low {} and high {} of measure \"{name}\" make no range: high must be above low, and both within 2^40 steps of {}",
            number(low),
            number(high),
            step.to_f64()
        ))
    })
}

/// Whole numbers for integers, about a million steps for others; a power of ten in any case.
fn default_step(low: f64, high: f64, is_integer: bool) -> Step {
    let widest = low.abs().max(high.abs());
    let mut exponent = ((high - low) / 1e6).log10().floor();
    if is_integer {
        exponent = 0.0;
    }
    let exponent = exponent.max((widest / 1e12).log10().ceil()).clamp(-15.0, 18.0);
    match exponent as i32 {
        e if e >= 0 => Step { mantissa: 10u64.pow(e as u32), scale: 0 },
        e => Step { mantissa: 1, scale: e.unsigned_abs() },
    }
}

/// The step in which bounds are searched if none is given: thousandths reach a billion.
const SEARCHED: Step = Step { mantissa: 1, scale: 3 };

/// The widest range, in which bounds are searched.
pub fn private_range(
    name: &str,
    object: &Map<String, Value>,
    is_integer: bool,
) -> Result<Range, Error> {
    if object.contains_key("low") || object.contains_key("high") {
        return Err(bad(format!("measure \"{name}\" has bounds and looks for bounds")));
    }
    let step = step(name, object)?.unwrap_or(if is_integer { Step::ONE } else { SEARCHED });
    Ok(Range { low: -Range::LIMIT, high: Range::LIMIT, step })
}
