"""Results that the five papers use or compare with, and newer related results.

One folder per source. Few of these texts were read in full: each record says whether its statement is known from an
abstract, as quoted by one of the five papers, or by a proof that was redone. Letters are those of the symbol table; a
rate known only from an abstract keeps the abstract's quantities, and lists what it leaves out. A fact that an abstract
does not state is left open, such as the neighbouring relation, or whether a bound holds in expectation. These records
assume the usual properties of the losses (Lipschitz, smooth, Hessian-Lipschitz), even where the abstract does not
mention them.
"""
