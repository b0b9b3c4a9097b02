//! Krimp: the patterns that describe a table in few bits.

use super::fit::{CANDIDATES, FORBIDDEN, MAX_TIME, NULLS, PRUNE, fit, forbidden, options};
use crate::api::measure::compare::Pair;
use crate::api::prelude::*;
use krimp::{CodeTable, Data, Model, Options};

/// Fits the code table for a call, and returns it with the rows that it describes.
fn fitted(call: &Call, mut options: Options) -> Result<(Input, Options, CodeTable)> {
    let names = call.get(&COLUMNS)?;
    let input = Input::of(call.get(&RELATION)?, names.as_deref())?.with_rows()?;
    options.forbidden = forbidden(&call.arguments, &input.name, &input.bag)?;
    let table = fit(&input.bag, input.bag.memory(), &options)?;
    Ok((input, options, table))
}

const KRIMP_CODETABLE: Method = Method::new(
    "krimp_codetable",
    &[&RELATION, &MIN_SUPPORT, &COLUMNS, &MAX_LENGTH, &CANDIDATES, &FORBIDDEN, &PRUNE, &MAX_TIME],
    columns![
        rank: Int4, items: Json, length: Int4, support: Int8, usage: Int8, code_length: Float8
    ],
    |call| {
        let (input, _, table) = fitted(call, options(&call.arguments)?)?;
        let mut rows = ResultRows::begin(call)?;
        let json = ItemsetJson::new(&input.bag);
        for (rank, element) in table.elements.iter().enumerate() {
            rows.push([
                Value::Int(rank as i32 + 1),
                Value::Made(&|| json.datum(&element.items)),
                Value::Int(element.items.len() as i32),
                Value::count(element.support),
                Value::count(element.usage),
                element.code_length.map_or(Value::Null, Value::Float),
            ]);
        }
        Ok(rows.finish(call))
    },
)
.reading()
.rows(1000)
.about(
    "the code table that Krimp fits to the relation: the patterns that together describe it \
         in the fewest bits, in the order in which they cover rows; code_length in bits, NULL \
         where a pattern is not used",
);

const KRIMP_MODEL: Method = Method::new(
    "krimp_model",
    &[
        &RELATION,
        &MIN_SUPPORT,
        &COLUMNS,
        &MAX_LENGTH,
        &CANDIDATES,
        &FORBIDDEN,
        &PRUNE,
        &MAX_TIME,
        &NULLS,
    ],
    Returns::One(Type::Json),
    |call| {
        let options = Options { nulls: call.get(&NULLS)?, ..options(&call.arguments)? };
        let (input, options, table) = fitted(call, options)?;
        jsonb::datum(&Model::new(&table, &input.bag, &options, text::decode)?.to_json())
    },
)
.reading()
.about(
    "the code table with the values it is about: all that generating rows and encoding \
         other tables need, without the relation. It shows exact counts of the relation",
);

/// A model made by `krimp_model`.
pub const MODEL: Argument<Model> = Argument::new("model", Type::Json, |given| {
    Ok(Model::from_json(given.needed(given.json()?)?.as_ref())?)
})
.about("A model made by krimp_model.");

/// The texts of a bag's values by column and code, which threads cannot ask Postgres for; `None` where
/// the values are UTF-8 already.
struct Texts(Option<Vec<Vec<Option<String>>>>);

impl Texts {
    fn of(bag: &Bag) -> Self {
        let decode = || bag.domains().iter().map(|d| d.values().map(text::decode).collect());
        Texts((!text::is_utf8()).then(|| decode().collect()))
    }

    fn data<'a>(&'a self, bag: &'a Bag) -> Data<'a> {
        self.0.as_ref().map_or(Data::from(bag), |texts| Data::decoded(bag, texts))
    }
}

/// The columns of a model in a relation.
fn modelled(relation: Oid, model: &Model) -> Result<Bag> {
    let relation = Relation::open(relation)?;
    let names: Vec<String> = model.columns().iter().map(|column| column.name.clone()).collect();
    let columns = relation.positions("model", Some(&names))?;
    Ok(reader::read(&relation, &columns)?.bag)
}

/// The text of progress notices during encoding.
fn encoding(_: &Watch) -> String {
    "rows are covered".into()
}

const KRIMP_SIZE: Method = Method::new(
    "krimp_size",
    &[&MODEL, &RELATION],
    columns![
        data_bits: Float8, model_bits: Float8, total_bits: Float8, standard_bits: Float8,
        ratio: Float8
    ],
    |call| {
        let model = call.get(&MODEL)?;
        let bag = modelled(call.get(&RELATION)?, &model)?;
        let texts = Texts::of(&bag);
        let encoded = pool::run_telling("encoding", bag.memory(), encoding, |watch| {
            krimp::encode(&model, texts.data(&bag), watch)
        })?;
        let sizes = encoded.sizes;
        call.one_row([
            Value::Float(sizes.data_bits),
            Value::Float(sizes.model_bits),
            Value::Float(sizes.total_bits),
            Value::Float(sizes.standard_bits),
            Value::Float(sizes.ratio),
        ])
    },
)
.reading()
.rows(1)
.about(
    "the size of the relation encoded with the model, and with single values only \
         (standard_bits); ratio is the one by the other",
);

const KRIMP_ROW_BITS: Method = Method::new(
    "krimp_row_bits",
    &[&MODEL, &RELATION],
    columns![items: Json, rows: Int8, bits: Float8, patterns: Int4],
    krimp_row_bits,
)
.reading()
.rows(1000)
.about(
    "the bits that each distinct row of the relation takes encoded with the model, and the \
         number of patterns and single values that it is put together from, shortest code \
         first: what the model does not expect comes last",
);

fn krimp_row_bits(call: &Call) -> Result<Datum> {
    let model = call.get(&MODEL)?;
    let bag = modelled(call.get(&RELATION)?, &model)?;
    let texts = Texts::of(&bag);
    let (codes, order) = pool::run_telling("encoding", bag.memory(), encoding, |watch| {
        let codes = krimp::row_bits(&model, texts.data(&bag), watch)?;
        let order = krimp::shortest_first(&codes, &bag, watch)?;
        Ok::<_, krimp::Error>((codes, order))
    })?;
    let mut rows = ResultRows::begin(call)?;
    let json = ItemsetJson::new(&bag);
    for row in order.into_iter().map(|row| row as usize) {
        rows.push([
            Value::Made(&|| json.row(row)),
            Value::count(bag.weight(row)),
            Value::Float(codes[row].bits),
            Value::Int(codes[row].elements as i32),
        ]);
    }
    Ok(rows.finish(call))
}

/// Models by the names of their classes.
const MODELS: Argument<Vec<(String, Model)>> = Argument::new("models", Type::Json, |given| {
    const HINT: &str = "models is an object with a model of sanitize.krimp_model for each class: jsonb_object_agg(class, model).";
    let models = given.needed(given.json()?)?;
    let Some(models) = models.as_object().filter(|models| !models.is_empty()) else {
        return Err(Error::argument("models has no model by class", HINT));
    };
    let mut read = Vec::with_capacity(models.len());
    for (class, model) in models {
        let model = Model::from_json(model).map_err(|error| {
            Error::argument(format!("models: class \"{class}\": {error}"), HINT)
        })?;
        read.push((class.clone(), model));
    }
    krimp::comparable(&read)?;
    Ok(read)
})
.about("A model made by krimp_model for each class: {\"yes\": …, \"no\": …}.");

const KRIMP_CLASSIFY: Method = Method::new(
    "krimp_classify",
    &[&MODELS, &RELATION],
    columns![items: Json, rows: Int8, class: Text, bits: Float8],
    krimp_classify,
)
.reading()
.rows(1000)
.about(
    "the class of each distinct row of the relation: of several models, {\"class\": model, \
         …}, the one that encodes it in the fewest bits",
);

fn krimp_classify(call: &Call) -> Result<Datum> {
    let models = call.get(&MODELS)?;
    let mut bag = modelled(call.get(&RELATION)?, &models[0].1)?;
    let (held, texts) = (bag.memory(), Texts::of(&bag));
    let (bag, classes) = pool::run_telling("encoding", held, encoding, |watch| {
        bag.sort(watch)?;
        let classes = krimp::classify(&models, texts.data(&bag), watch)?;
        Ok::<_, krimp::Error>((bag, classes))
    })?;
    let mut rows = ResultRows::begin(call)?;
    let json = ItemsetJson::new(&bag);
    let names: Vec<Vec<u8>> = models.iter().map(|(name, _)| from_utf8(name)).collect();
    for (row, found) in classes.iter().enumerate() {
        rows.push([
            Value::Made(&|| json.row(row)),
            Value::count(bag.weight(row)),
            Value::Text(&names[found.class as usize]),
            Value::Float(found.bits),
        ]);
    }
    Ok(rows.finish(call))
}

const A: Argument<Oid> = Argument::of("a").about("A relation.");

const B: Argument<Oid> = Argument::of("b").about("Another relation with the same columns.");

const KRIMP_DISSIMILARITY: Method = Method::new(
    "krimp_dissimilarity",
    &[&A, &B, &MIN_SUPPORT, &COLUMNS, &MAX_LENGTH, &CANDIDATES, &MAX_TIME],
    Returns::One(Type::Float8),
    |call| {
        let options = options(&call.arguments)?;
        let names = call.get(&COLUMNS)?;
        let pair = Pair::read((call.get(&A)?, call.get(&B)?), names.as_deref())?;
        let (a, b) = (&pair.original.bag, &pair.released.bag);
        let held = a.memory() + b.memory();
        let model = |bag| {
            Ok::<_, Error>(Model::new(&fit(bag, held, &options)?, bag, &options, text::decode)?)
        };
        let (model_a, model_b) = (model(a)?, model(b)?);
        let (texts_a, texts_b) = (Texts::of(a), Texts::of(b));
        let found = pool::run_telling("encoding", held, encoding, |watch| {
            krimp::dissimilarity((&model_a, texts_a.data(a)), (&model_b, texts_b.data(b)), watch)
        })?;
        call.value(found.value)
    },
)
.reading()
.about(
    "how unlike two relations are: the extra bits, as a share, that one needs with the code \
         table of the other; 0 for equal relations",
);

methods! {
    sanitize_krimp_codetable => KRIMP_CODETABLE;
    sanitize_krimp_model => KRIMP_MODEL;
    sanitize_krimp_size => KRIMP_SIZE;
    sanitize_krimp_row_bits => KRIMP_ROW_BITS;
    sanitize_krimp_classify => KRIMP_CLASSIFY;
    sanitize_krimp_dissimilarity => KRIMP_DISSIMILARITY;
}
