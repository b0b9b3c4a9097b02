"""Table 4 of Dorrestijn (2018): classifiers that learn from a generated table."""

import json
import random
from statistics import fmean

import numpy
from _page import listed
from _private_sets import METHODS
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

# Krimp, C4.5 and naive Bayes, learned from the original and from the generated table, in %.
PRINTED = {
    "adult": ((84.3, 85.5, 80.2), (83.9, 85.2, 79.9)),
    "led7": ((75.3, 75.3, 75.4), (72.4, 73.2, 74.1)),
    "nursery": ((92.3, 99.5, 92.2), (91.5, 99.3, 89.7)),
}
FOLDS = 10


class Learner:
    """A set split into a table to learn from and rows to be tested on, and three classifiers."""

    def __init__(self, of, fold):
        self.set, self.connection = of, of.connection
        order = list(range(len(of.rows)))
        random.Random(1).shuffle(order)
        train = [of.rows[i] for place, i in enumerate(order) if place % FOLDS != fold]
        self.test = [of.rows[i] for place, i in enumerate(order) if place % FOLDS == fold]
        for table, rows in (("train", train), ("test", self.test)):
            self.connection.execute(f"DROP TABLE IF EXISTS {table} CASCADE")
            self.connection.execute(f"CREATE UNLOGGED TABLE {table} (LIKE {of.name})")
            text = "".join("\t".join(row) + "\n" for row in rows)
            with self.connection.cursor().copy(f"COPY {table} FROM STDIN") as stream:
                stream.write(text)
        of.declare("train")
        self.size = len(train)
        columns = list(zip(*of.rows))
        self.codes = [{v: i for i, v in enumerate(sorted(set(column)))} for column in columns]

    def coded(self, rows):
        cells = [[codes[v] for codes, v in zip(self.codes, row)] for row in rows]
        table = numpy.array(cells)
        return table[:, :-1], table[:, -1]

    def accuracies(self, table):
        """The shares of the test rows that Krimp, a decision tree and naive Bayes get right, in %."""
        columns = ", ".join(f"coalesce({c}, '\\N')" for c in self.set.columns)
        rows = self.connection.execute(f"SELECT {columns} FROM {table}").fetchall()
        (x, y), (test_x, test_y) = self.coded(rows), self.coded(self.test)
        sizes = [len(codes) for codes in self.codes[:-1]]
        one_hot = OneHotEncoder(categories=[range(size) for size in sizes]).fit(x)
        tree = DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=2, ccp_alpha=1e-4, random_state=1
        )
        tree.fit(one_hot.transform(x), y)
        bayes = CategoricalNB(min_categories=sizes).fit(x, y)
        right = [
            self.krimp(table),
            (tree.predict(one_hot.transform(test_x)) == test_y).mean(),
            (bayes.predict(test_x) == test_y).mean(),
        ]
        return [100 * share for share in right]

    def krimp(self, table):
        *columns, label = self.set.columns
        candidates, min_support = self.set.code_table
        classes = self.connection.execute(f"SELECT DISTINCT {label} FROM {table}").fetchall()
        models = {}
        for (name,) in classes:
            self.connection.execute("DROP VIEW IF EXISTS one_class")
            self.connection.execute(
                f"CREATE TEMP VIEW one_class AS SELECT {', '.join(columns)} FROM {table} WHERE {label} = '{name}'"
            )
            models[name] = self.connection.execute(
                "SELECT sanitize.krimp_model('one_class', %s, candidates => %s, prune => true)",
                [min_support, candidates],
            ).fetchone()[0]
        found = self.connection.execute(
            "SELECT items, class FROM sanitize.krimp_classify(%s, 'test')", [json.dumps(models)]
        )
        classified = {tuple(items.get(c, r"\N") for c in columns): name for items, name in found}
        return fmean(classified[tuple(row[:-1])] == row[-1] for row in self.test)


def classification(page, sets):
    """`sets` says how many of the ten parts of each set are tested on."""
    rows = []
    for of, runs in sets.items():
        found = {}
        for fold in range(runs):
            learner = Learner(of, fold)
            found.setdefault("original", []).append(learner.accuracies("train"))
            for method in METHODS:
                of.make(method, fold + 1, "train", learner.size, of.columns[-1])
                found.setdefault(method, []).append(learner.accuracies("made"))
        labels = [row[-1] for row in of.rows]
        majority = 100 * max(map(labels.count, set(labels))) / len(labels)
        printed = PRINTED.get(of.name)
        if printed:
            rows.append([of.name, "printed, original", *printed[0]])
            rows.append([of.name, "printed, generated", *printed[1]])
        for method, values in found.items():
            rows.append([of.name, method, *[f"{fmean(v):.1f}" for v in zip(*values)]])
            print(*rows[-1], flush=True)
        rows.append([of.name, "always the most common class", *[f"{majority:.1f}"] * 3])
    parts = [f"{runs} of {of.name}" for of, runs in sets.items()]
    page.tell(
        "Classification (table 4)",
        f"""
Accuracy in % on original rows that were held out: the set is split into ten parts; a table is generated from
nine of them, and the model learned from it is tested on the tenth. Means over {listed(parts)} such parts. The plain
tree and `cells` generate each class separately, by the true and by the randomised label; for `dp_synthesize` the class is a column like the others.
Krimp: `krimp_classify`, a model per class with the candidates and min_support of the compression above. C4.5: its relative in
scikit-learn, a decision tree by entropy on single values, at least two rows to a leaf and cost-complexity pruning
(0.0001). Naive Bayes: categorical, with a Laplace correction of 1.
""",
        ["set", "learned from", "Krimp", "decision tree", "naive Bayes"],
        rows,
    )
