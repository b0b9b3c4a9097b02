//! Tables drawn from Krimp models.

use super::code_table::MODEL;
use super::fit::{CANDIDATES, FORBIDDEN, MAX_TIME, columns_and_class, fit, forbidden, options};
use super::reject::{REJECT, Rejected};
use crate::api::prelude::*;
use crate::api::shared::drawing::{draw_rows, step};
use crate::pg::call::notice::warning;
use crate::pg::write::typed::{self, TextValues};
use krimp::{ClassRows, Correction, DomainOrder, Generator, Model, Nulls, Options};
use random::Key;
use std::cell::Cell;

const LAPLACE: Argument<f64> = Argument::new("laplace", Type::Float8, |given| {
    let correction = given.get::<f64>()?;
    // Errors in it are reported before the source is read.
    Correction::new(correction)?;
    Ok(correction)
})
.or("0.001")
.about("What is added to every usage, so that no value is impossible.");

const LAPLACE_BY: Argument<Vec<(String, ByColumn)>> =
    Argument::optional("laplace_by", Type::Json, by_column).about(
        "Other corrections by column, or by column and value: {\"zip\": 5, \"sex\": {\"F\": 2}}.",
    );

/// The numbers that are added to the usages.
struct Corrections {
    table: f64,
    by: Vec<(String, ByColumn)>,
}

enum ByColumn {
    All(f64),
    Values(Vec<(String, f64)>),
}

fn by_column(given: &Given<'_>) -> Result<Vec<(String, ByColumn)>> {
    let refuse = |what: &Json| {
        Error::argument(
            format!("laplace_by has {what}"),
            "laplace_by has numbers by column, or by column and value: {\"zip\": 5, \"sex\": {\"F\": 2}}.",
        )
    };
    let number = |of: &Json| of.as_f64().ok_or_else(|| refuse(of));
    let Some(columns) = given.json()? else { return Ok(Vec::new()) };
    let mut by = Vec::new();
    for (column, correction) in columns.as_object().ok_or_else(|| refuse(&columns))? {
        let correction = match correction {
            Json::Object(values) => {
                let read = values.iter().map(|(text, n)| Ok((text.clone(), number(n)?)));
                ByColumn::Values(read.collect::<Result<_>>()?)
            }
            other => ByColumn::All(number(other)?),
        };
        by.push((column.clone(), correction));
    }
    Ok(by)
}

impl Corrections {
    fn of_call(call: &Arguments<'_>) -> Result<Self> {
        Ok(Corrections { table: call.get(&LAPLACE)?, by: call.get(&LAPLACE_BY)? })
    }

    /// The corrections for the columns of a model. A value that the model does not have is not an error, because in a
    /// nightly job a value may disappear one day; with `warn` there is a notice.
    fn of(&self, model: &Model, warn: bool) -> Result<Correction> {
        let mut laplace = Correction::new(self.table)?;
        for (name, correction) in &self.by {
            let Some(column) = model.column(name) else {
                let known: Vec<&str> = model.columns().iter().map(|c| c.name.as_str()).collect();
                return Err(Error::argument(
                    format!("laplace_by names column \"{name}\", which is not generated"),
                    format!("The columns are: {}.", known.join(", ")),
                ));
            };
            match correction {
                ByColumn::All(value) => laplace.column(column as u32, *value)?,
                ByColumn::Values(values) => {
                    for (text, value) in values {
                        match model.columns()[column].code(Some(text)) {
                            Some(code) => {
                                laplace.item(Item { column: column as u32, code }, *value)?
                            }
                            None if warn => warning(&format!(
                                "laplace_by: column \"{name}\" has no value \"{text}\""
                            )),
                            None => {}
                        }
                    }
                }
            }
        }
        Ok(laplace)
    }
}

/// The progress of drawing.
#[derive(Default)]
struct Drawn {
    rows: u64,
    elements: u64,
}

impl Drawn {
    /// Draws rows and passes them on.
    fn draw(
        &mut self,
        generator: &Generator,
        width: usize,
        n: u64,
        key: &Key,
        emit: impl FnMut(&[u32]),
    ) -> Result<()> {
        let part = |start, rows, watch: &Watch| {
            let part = generator.rows(start, rows, |chunk| key.stream(chunk), watch)?;
            self.elements += part.elements;
            Ok::<_, krimp::Error>(part.cells)
        };
        draw_rows(0, width, n, step(width, Generator::CHUNK), part, emit)?;
        self.rows += n;
        Ok(())
    }

    /// A notice on how many patterns a row consists of: the fewer there are, the closer the row is to a copy.
    fn tell(&self) {
        if self.rows > 0 {
            let each = self.elements as f64 / self.rows as f64;
            notice_hint(
                &format!("krimp_generate: {} rows of {each:.2} patterns each", self.rows),
                "No privacy is guaranteed. The fewer patterns, the more rows are copies: see sanitize.krimp_report.",
            );
        }
    }
}

const KRIMP_GENERATE: Method = Method::release(
    "krimp_generate",
    &[
        &ROWS_OF,
        &N,
        &MIN_SUPPORT,
        &LAPLACE,
        &LAPLACE_BY,
        &CLASS,
        &COLUMNS,
        &MAX_LENGTH,
        &CANDIDATES,
        &FORBIDDEN,
        &SEED,
        &MAX_TIME,
        &REJECT,
    ],
    Release::new(krimp_generate),
)
.about(
    "n rows of the relation's type, drawn from the patterns that Krimp finds in it (class \
         by class if class is given). No privacy is guaranteed: rows can be copies, and every \
         value that occurs can come out",
)
.labelled(&[&MODEL], |options| {
    let (class, seed) = (options.get(&CLASS)?, options.get(&SEED)?);
    Ok(Guarantee::krimp_generate(class.as_deref(), coins_of(seed)))
});

const KRIMP_GENERATE_MODEL: Method = Method::new(
    "krimp_generate",
    &[&ROWS_OF, &MODEL, &N, &LAPLACE, &LAPLACE_BY, &SEED, &REJECT],
    Returns::Set(Type::Any),
    krimp_generate_model,
)
.rows(1000)
.about(
    "n rows of a relation's or composite type, drawn from a model of sanitize.krimp_model; \
         the source of the model is not needed. No privacy is guaranteed",
);

/// `krimp_generate` from a relation: fits a model, or one per class, and draws from it.
fn krimp_generate(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let n = call.get(&N)?;
    let options = Options { nulls: Nulls::Value, ..options(call.arguments)? };
    let corrections = Corrections::of_call(call.arguments)?;
    let mut coins = coins(call.get(&SEED)?)?;
    let relation = call.source()?;
    let (columns, by_class) = columns_and_class(call, &relation)?;
    let width = columns.len() - usize::from(by_class);
    let column_names: Vec<&str> =
        columns.iter().map(|&position| relation.columns[position].name.as_str()).collect();
    let rejected = Rejected::of_call(call.arguments, &relation, &column_names)?;
    let table = reader::read(&relation, &columns)?;
    if table.bag.row_count() == 0 {
        return Err(Error::Empty { relation: relation.name, of: "rows" });
    }
    let values = ReadValues::new(&table, &relation, &columns);
    let mut rows = TypedRows::begin(rows, &relation, &columns, values)?;
    let mut drawn = Drawn::default();
    let held = table.bag.memory();
    let name = match by_class {
        true => format!("{} without its class", relation.name),
        false => relation.name.clone(),
    };
    let first = Cell::new(true);
    let generator = |bag: &Bag, class: Option<(&str, Option<String>)>| {
        let mut options = options.clone();
        options.forbidden = forbidden(call.arguments, &name, bag)?;
        let model =
            Model::new(&fit(bag, held + bag.memory(), &options)?, bag, &options, text::decode)?;
        let laplace = corrections.of(&model, first.replace(false))?;
        let generator = Generator::new(&model, &laplace, DomainOrder::Random)?;
        Ok::<_, Error>(generator.rejecting(rejected.of(&model, class)))
    };
    if !by_class {
        let generator = generator(&table.bag, None)?;
        drawn.draw(&generator, width, n, &coins.key(), |cells| rows.push(cells, 1))?;
    } else {
        let classes = ClassRows::new(&table.bag, width);
        let shares = krimp::apportion(n, &classes.sizes());
        let mut row = vec![NONE; width + 1];
        for (class, &share) in shares.iter().enumerate().filter(|&(_, &share)| share > 0) {
            let bag = pool::run("choosing rows", held, |watch| classes.bag(class, watch))?;
            row[width] = classes.code(class);
            let domain = table.bag.domain(width);
            let value = (row[width] != NONE).then(|| text::decode(domain.value(row[width])));
            let of_class = Some((domain.name(), value.flatten()));
            let generator = generator(&bag, of_class)?;
            drawn.draw(&generator, width, share, &coins.key(), |cells| {
                row[..width].copy_from_slice(cells);
                rows.push(&row, 1);
            })?;
        }
    }
    drawn.tell();
    Ok(())
}

/// `krimp_generate` from a model: draws from it without its source.
fn krimp_generate_model(call: &Call) -> Result<Datum> {
    let n = call.get(&N)?;
    let corrections = Corrections::of_call(&call.arguments)?;
    let mut coins = coins(call.get(&SEED)?)?;
    let model = call.get(&MODEL)?;
    let relation = typed::row_type(call.get(&ROWS_OF)?)?;
    let column_names: Vec<&str> = model.columns().iter().map(|c| c.name.as_str()).collect();
    let reject = Rejected::of_call(&call.arguments, &relation, &column_names)?.of(&model, None);
    let laplace = corrections.of(&model, true)?;
    let generator = Generator::new(&model, &laplace, DomainOrder::Random)?.rejecting(reject);
    let mut columns = Vec::with_capacity(model.columns().len());
    let mut texts = Vec::with_capacity(model.columns().len());
    for column in model.columns() {
        columns.push(relation.position(&column.name)?);
        texts.push(column.values.iter().map_while(|value| value.as_deref()).collect());
    }
    let values = TextValues::new(texts, &relation, &columns);
    let mut returned = ResultRows::begin(call)?;
    let mut rows = TypedRows::begin(&mut returned, &relation, &columns, values)?;
    rows.make_values();
    let mut drawn = Drawn::default();
    drawn.draw(&generator, columns.len(), n, &coins.key(), |cells| rows.push(cells, 1))?;
    drawn.tell();
    Ok(returned.finish(call))
}

methods! {
    sanitize_krimp_generate => KRIMP_GENERATE;
    sanitize_krimp_generate_model => KRIMP_GENERATE_MODEL;
}
