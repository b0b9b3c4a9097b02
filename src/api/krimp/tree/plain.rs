//! Code trees of relations as they are, and rows drawn from them: no guarantee.

use super::{GENERATOR, TREE_THRESHOLD, draw};
use crate::api::krimp::fit::{self, CANDIDATES, NULLS, columns_and_class};
use crate::api::prelude::*;
use krimp::{ClassRows, CodeTree, Nulls, Options, apportion};
use std::sync::Arc;

/// Rows are drawn with NULLs where the source has them.
const NULLS_AS_VALUES: Argument<Nulls> = NULLS.or("\"value\"");

/// The arguments of a tree of plain rows.
struct Asked {
    min_share: f64,
    threshold: f64,
    /// All but the least support, which depends on the rows.
    options: Options,
}

impl Asked {
    fn of_call(
        call: &Arguments<'_>,
        min_share: &Argument<f64>,
        nulls: &Argument<Nulls>,
    ) -> Result<Self> {
        let min_share = call.get(min_share)?;
        let threshold = call.get(&TREE_THRESHOLD)?.unwrap_or(min_share);
        let options = Options {
            max_length: call.get(&MAX_LENGTH)?,
            nulls: call.get(nulls)?,
            candidates: call.get(&CANDIDATES)?,
            ..Options::new(1)
        };
        Ok(Asked { min_share, threshold, options })
    }

    /// The tree of a bag with rows; `held` is the number of bytes that the call already holds.
    fn tree(&self, bag: &Bag, held: u64) -> Result<CodeTree> {
        let min_support = measures::least_support(self.min_share, bag.row_count());
        let options = Options { min_support, ..self.options.clone() };
        let table = fit::fit(bag, held, &options)?;
        pool::run("building the tree", held, |watch| {
            krimp::code_tree(bag, &table, options.nulls, self.threshold, watch)
        })
    }
}

pub const CODE_TREE: Method = Method::new(
    "code_tree",
    &[&RELATION, &MIN_SHARE, &TREE_THRESHOLD, &COLUMNS, &MAX_LENGTH, &NULLS, &CANDIDATES],
    columns![node: Int4, parent: Int4, item: Json, probability: Float8],
    code_tree,
)
.reading()
.rows(1000)
.about(
    "the dependent code tree of the relation: a path of items for every combination of \
         Krimp's patterns that more than tree_threshold of the rows contain, and the share of \
         the rows that contain each path. It shows exact counts of the relation",
);

fn code_tree(call: &Call) -> Result<Datum> {
    let asked = Asked::of_call(&call.arguments, &MIN_SHARE, &NULLS)?;
    let names = call.get(&COLUMNS)?;
    let input = Input::of(call.get(&RELATION)?, names.as_deref())?.with_rows()?;
    let tree = asked.tree(&input.bag, input.bag.memory())?;
    let nulls = null_items(&tree, &input.bag)?;
    let mut rows = ResultRows::begin(call)?;
    let json = ItemsetJson::new(&input.bag);
    for (number, node) in tree.nodes().iter().enumerate() {
        let item = |item: &Item| match nulls[item.column as usize] {
            Some((code, null)) if code == item.code => null,
            _ => json.datum(&[*item]),
        };
        let parent = node.parent.map_or(Value::Null, |parent| Value::Int(parent as i32));
        let probability = Value::Float(node.probability);
        match &node.item {
            None => rows.push([Value::Int(number as i32), parent, Value::Null, probability]),
            Some(of) => {
                let made = || item(of);
                rows.push([Value::Int(number as i32), parent, Value::Made(&made), probability]);
            }
        }
    }
    Ok(rows.finish(call))
}

/// By column, where NULL is an item: its code, and the item as jsonb.
fn null_items(tree: &CodeTree, bag: &Bag) -> Result<Vec<Option<(u32, Datum)>>> {
    let null = |(column, domain): (u32, &Arc<Domain>)| {
        let Some(code) = tree.null_code(column) else { return Ok(None) };
        Ok(Some((code, jsonb::datum(&json!({ domain.name(): null }))?)))
    };
    (0..).zip(bag.domains()).map(null).collect()
}

pub const CODE_TREE_GENERATE: Method = Method::release(
    "code_tree_generate",
    &[
        &ROWS_OF,
        &N,
        &MIN_SHARE_OR_TENTH,
        &TREE_THRESHOLD,
        &GENERATOR,
        &COLUMNS,
        &MAX_LENGTH,
        &CLASS,
        &SEED,
        &NULLS_AS_VALUES,
        &CANDIDATES,
    ],
    Release::new(code_tree_generate),
)
.about(
    "n rows of the relation's type, drawn from its dependent code tree (class by class if \
         class is given). No privacy is guaranteed: rows can be copies, and every value that \
         occurs can come out",
)
.labelled(&[], |options| {
    let (class, seed) = (options.get(&CLASS)?, options.get(&SEED)?);
    Ok(Guarantee::code_tree_generate(class.as_deref(), coins_of(seed)))
});

/// `code_tree_generate`: a tree, or one per class, and rows drawn from it.
fn code_tree_generate(call: &ReleaseCall<'_>, rows: &mut ResultRows) -> Result<()> {
    let (n, walk) = (call.get(&N)?, call.get(&GENERATOR)?);
    let asked = Asked::of_call(call.arguments, &MIN_SHARE_OR_TENTH, &NULLS_AS_VALUES)?;
    let mut coins = coins(call.get(&SEED)?)?;
    let relation = call.source()?;
    let (columns, by_class) = columns_and_class(call, &relation)?;
    let table = reader::read(&relation, &columns)?;
    if table.bag.row_count() == 0 {
        return Err(Error::Empty { relation: relation.name, of: "rows" });
    }
    let values = ReadValues::new(&table, &relation, &columns);
    let mut rows = TypedRows::begin(rows, &relation, &columns, values)?;
    let held = table.memory();
    if !by_class {
        let tree = asked.tree(&table.bag, held)?;
        return draw(&tree, walk, n, &coins.key(), held, |cells| rows.push(cells, 1));
    }
    let last = columns.len() - 1;
    let classes = ClassRows::new(&table.bag, last);
    let mut row = vec![NONE; columns.len()];
    let shares = apportion(n, &classes.sizes());
    for (class, &share) in shares.iter().enumerate().filter(|&(_, &share)| share > 0) {
        let bag = pool::run("choosing rows", held, |watch| classes.bag(class, watch))?;
        let held = held + bag.memory();
        let tree = asked.tree(&bag, held)?;
        row[last] = classes.code(class);
        draw(&tree, walk, share, &coins.key(), held, |cells| {
            row[..last].copy_from_slice(cells);
            rows.push(&row, 1);
        })?;
    }
    Ok(())
}
