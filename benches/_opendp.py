"""Makes a synthetic table by an algorithm of OpenDP: run by synthesize.py, as a program of its own.

usage: _opendp.py MST|AIM RHO SOURCE TARGET      files of comma-separated texts with a header

Prints the processor time that it took, without reading and writing.
"""

import sys
import time

import opendp.prelude as dp
import polars

dp.enable_features("contrib")

TRIES = 8


def release(data, algorithm, rho):
    """The model. Domains are public here, as for dp_synthesize, so no delta is needed to find them."""
    keys = {column: data[column].unique().sort().to_list() for column in data.columns}
    context = dp.Context.compositor(
        data=data.lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=rho),
    )
    return context.query(rho=rho).contingency_table(keys=keys, algorithm=algorithm).release()


def main():
    name, rho, source, target = sys.argv[1:]
    data = polars.read_csv(source, infer_schema=False)
    rho, table = float(rho), None
    for _ in range(TRIES):
        began = time.process_time()
        try:
            table = release(data, getattr(dp.mbi, name)(), rho)
            break
        except dp.OpenDPException as error:
            # For some rho the parts that its algorithms spend add up to an ulp too much.
            if "insufficient budget" not in str(error):
                raise
            rho *= 1 - 1e-6
    if table is None:
        sys.exit(f"{name} found its budget insufficient {TRIES} times")
    made = table.synthesize(rows=len(data))
    print(time.process_time() - began)
    made.write_csv(target)


main()
