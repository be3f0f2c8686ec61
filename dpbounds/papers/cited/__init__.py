"""What the five papers build on or compare with, and newer results that change the picture.

One folder per source. Few of these texts were read in full: each record says whether its statement is known from an
abstract, as quoted by one of the five papers, or by a proof that was redone. Letters are those of the symbol table; a
rate known only from an abstract keeps the abstract's quantities, and lists what it leaves out. What abstracts do not
say stays open: the neighbouring relation, whether a bound holds in expectation. Their records assume what is usual
for the problem (Lipschitz, smooth, Hessian-Lipschitz losses), even where the abstract leaves it out.
"""
