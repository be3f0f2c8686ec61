(* The finite kernel of dpbounds: what Coq has checked.

   This is the one file that a person has to read. It holds definitions and claims, each in words first, and no proof.
   The other files prove every claim (`Theorem best_event : Best_event R` proves `Best_event`), and build.py checks
   them. A path in a comment names the proof on paper that the claim checks; paths are relative to dpbounds/privacy/.

   How to read it. R is any ordered field, such as the rational or the real numbers. A type T or U is a finite set of
   outcomes. `P : T -> R` gives a number P x to each outcome x. `\sum_x P x` is the sum over all outcomes, and
   `\sum_(x | E x) P x` over those with the property E; `\prod` is a product. A sum ends before the next + or -, a
   product also before the next * or /. In every claim "forall" comes first, then hypotheses, each followed by `->`, and
   last the conclusion. A name after "forall" stands for anything of its type: for example, P need not be a distribution
   unless a hypothesis says so. `let x := y in` gives y the name x. The words of a claim call numbers P x
   probabilities also where the claim needs no such hypothesis. The sign @, `[finType of ...]` and the lines
   `Arguments` help Coq to find types; they do not change the meaning.

     n%:R         the natural number n as an element of R       x ^+ n      a power
     m.+1         m + 1                                         x^-1        1/x, and 0 for x = 0
     (...)%N      is about natural numbers                      'I_m        the natural numbers less than m
     h.1, h.2     the parts of the pair h                       fun x => y  the function that maps x to y
     U1 + U2      the outcomes inl u of U1, and inr u of U2     A /\ B      A and B (also [/\ A, B & C])
     option T     the outcomes Some x of T, and None            pred T      the events: properties of outcomes in T
     fun=> y      the function that is y everywhere             finType     a finite set; nat: the natural numbers
     x == y       whether x and y are equal                     match z with inl u => v | inr u => w end
     exists2 Z, A & B   there is a Z with A and B                           v if z is inl u, and w if z is inr u *)
From mathcomp Require Import all_ssreflect all_algebra.
From kernel Require checker.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Kernel.
Variable R : realFieldType.

(** * Profiles *)

(* A probability distribution on T: no negative number, and the sum is 1. *)
Definition distribution (T : finType) (P : T -> R) : Prop := (forall x, 0 <= P x) /\ \sum_x P x = 1.

(* The positive part: x if x >= 0, and 0 otherwise. *)
Definition pos (x : R) : R := Num.max x 0.

(* The profile, or hockey-stick divergence: H a P Q = sum over x of the positive part of P(x) - a Q(x).
   P and Q are called (log a, d)-indistinguishable, in this order, if P(E) <= a Q(E) + d for every event E. By
   `Best_event` below this holds exactly if H a P Q <= d. *)
Definition H (T : finType) (a : R) (P Q : T -> R) : R := \sum_x pos (P x - a * Q x).

(* The pair (A, B) dominates (P, Q): its profile is at least as large at every a >= 0, also below 1. *)
Definition dominates (T U : finType) (P Q : T -> R) (A B : U -> R) : Prop :=
  forall a, 0 <= a -> H a P Q <= H a A B.

(* The output of a randomised function K on an input that is drawn from P. *)
Definition push (T U : finType) (K : T -> U -> R) (P : T -> R) : U -> R := fun y => \sum_x P x * K x y.

(* The average of the distributions P i with the weights w i. *)
Definition mixture (I T : finType) (w : I -> R) (P : I -> T -> R) : T -> R := fun x => \sum_i w i * P i x.

(* pairs/pairs.md, section 1. P(E) - a Q(E) is at most H a P Q for every event E, and there is an event for which the
   two are equal. *)
Definition Best_event : Prop := forall (T : finType) (P Q : T -> R) (a : R),
  (forall E : pred T, \sum_(x | E x) P x - a * (\sum_(x | E x) Q x) <= H a P Q) /\
  (exists E : pred T, \sum_(x | E x) P x - a * (\sum_(x | E x) Q x) = H a P Q).

(* pairs/pairs.md, section 1. If (A, B) dominates (P, Q), and H a A B <= d, then P(E) <= a Q(E) + d for every event E.
   For a = e^epsilon and d = delta this is (epsilon, delta)-differential privacy. *)
Definition Dominated_is_private : Prop :=
  forall (T U : finType) (P Q : T -> R) (A B : U -> R) (a d : R),
  dominates P Q A B -> 0 <= a -> H a A B <= d ->
  forall E : pred T, \sum_(x | E x) P x <= a * (\sum_(x | E x) Q x) + d.

(* pairs/pairs.md, section 1. The profile of two distributions is 1 at a = 0, lies between the positive part of 1 - a
   and 1, does not increase with a, and is convex in a. *)
Definition Shape_of_profiles : Prop := forall (T : finType) (P Q : T -> R), distribution P -> distribution Q ->
  H 0 P Q = 1 /\
  (forall a, 0 <= a -> pos (1 - a) <= H a P Q /\ H a P Q <= 1) /\
  (forall a b, a <= b -> H b P Q <= H a P Q) /\
  (forall a b t, 0 <= t -> t <= 1 ->
     H ((1 - t) * a + t * b) P Q <= (1 - t) * H a P Q + t * H b P Q).

(* pairs/pairs.md, section 1. Data processing: a randomised function of the output does not make P and Q easier
   to distinguish. *)
Definition Data_processing : Prop := forall (T U : finType) (K : T -> U -> R) (P Q : T -> R),
  (forall x, distribution (K x)) -> dominates (push K P) (push K Q) P Q.

(* pairs/pairs.md, section 1. Joint convexity: the profile of two averages with the same weights is at most the average
   of the profiles. *)
Definition Joint_convexity : Prop := forall (I T : finType) (w : I -> R) (P Q : I -> T -> R) (a : R),
  (forall i, 0 <= w i) -> H a (mixture w P) (mixture w Q) <= \sum_i w i * H a (P i) (Q i).

(* pairs/revealed.md. Let (P i, Q i) be pairs of distributions, which are averaged with weights w i. If (A, B)
   dominates every (P i, Q i) whose weight is positive, then it dominates the two averages. *)
Definition Draws_revealed : Prop :=
  forall (I T U : finType) (w : I -> R) (P Q : I -> T -> R) (A B : U -> R),
  distribution w -> (forall i, 0 < w i -> dominates (P i) (Q i) A B) -> dominates (mixture w P) (mixture w Q) A B.

(* pairs/pairs.md, section 1. Reversal: the profile in one order gives the profile in the other order. *)
Definition Reversal : Prop := forall (T : finType) (P Q : T -> R) (a : R),
  distribution P -> distribution Q -> 0 < a -> H a P Q = 1 - a + a * H a^-1 Q P.

(* pairs/pairs.md, section 1. Symmetrising: a bound d at 1/a in the other order gives a bound at a in this order. *)
Definition Mirrored : Prop := forall (T : finType) (P Q : T -> R) (a d : R),
  distribution P -> distribution Q -> 0 < a -> H a^-1 Q P <= d -> H a P Q <= 1 - a + a * d.

(* pairs/pairs.md, section 1. If (A, B) dominates (P, Q), then (B, A) dominates (Q, P). *)
Definition Swapped : Prop := forall (T U : finType) (P Q : T -> R) (A B : U -> R),
  distribution P -> distribution Q -> distribution A -> distribution B -> dominates P Q A B -> dominates Q P B A.

(* The slope, after point i, of the line through (r 0, f 0), ..., (r n, f n); after the last point it is 0. *)
Definition slope (n : nat) (r f : nat -> R) (i : nat) : R :=
  if (i < n)%N then (f i.+1 - f i) / (r i.+1 - r i) else 0.

(* pairs/pairs.md, section 1. The hull. Connect the points (r i, f i), 0 = r 0 < ... < r n, by straight lines, and
   continue with the constant f n. Suppose that this line is convex and starts at 1, that f n >= 0, and that its slope
   is nowhere less than -1. (The last slope is 0, so that no slope is positive.) Then there is a pair (A, B) whose
   profile is this line at every a >= 0, and (A, B) dominates every P and Q whose profile is at most f i at each r i.
   (For r i < 1, such a bound comes from the other order by `Mirrored`.) *)
Definition Hull : Prop := forall (n : nat) (r f : nat -> R),
  r 0%N = 0 -> f 0%N = 1 -> 0 <= f n -> (forall i, (i < n)%N -> r i < r i.+1) ->
  -1 <= slope n r f 0 -> (forall i, (i < n)%N -> slope n r f i <= slope n r f i.+1) ->
  exists (U : finType) (A B : U -> R), distribution A /\ distribution B /\
    (forall i a, (i <= n)%N -> r i <= a -> ((i < n)%N -> a <= r i.+1) ->
       H a A B = f i + slope n r f i * (a - r i)) /\
    (forall (T : finType) (P Q : T -> R), distribution P -> distribution Q ->
       (forall i, (i <= n)%N -> H (r i) P Q <= f i) -> dominates P Q A B).

(* Measures w k * A k side by side, with k written beside each outcome. An outcome z of {k : K & U k} consists of
   `tag z`, an element k of K, and `tagged z`, an outcome in U k. *)
Definition side_by_side (K : finType) (U : K -> finType) (w : K -> R) (A : forall k, U k -> R) :
  {k : K & U k} -> R := fun z => w (tag z) * A (tag z) (tagged z).

(* mechanisms/schemes/truncated.md, section 1. Two distributions are written as sums of measures M k and M' k. If each
   M k against M' k has at most the profile of w k * A k against v k * B k, then the pair that shows k beside the
   outcome dominates. The weights w and v may differ. *)
Definition Tagged_parts : Prop :=
  forall (K T : finType) (U : K -> finType) (M M' : K -> T -> R) (w v : K -> R) (A B : forall k, U k -> R),
  (forall k a, 0 <= a -> H a (M k) (M' k) <= H a (fun u => w k * A k u) (fun u => v k * B k u)) ->
  dominates (fun y => \sum_k M k y) (fun y => \sum_k M' k y) (side_by_side w A) (side_by_side v B).

(* pairs/pairs.md, section 6. If in a chain P 0, ..., P k each distribution is (log a, d)-indistinguishable from the
   next, then P 0 and P k are (k log a, d (1 + a + ... + a^(k-1)))-indistinguishable. *)
Definition Chain : Prop := forall (T : finType) (k : nat) (P : nat -> T -> R) (a d : R), 0 <= a ->
  (forall i, (i < k)%N -> H a (P i) (P i.+1) <= d) ->
  H (a ^+ k) (P 0%N) (P k) <= d * (\sum_(i < k) a ^+ i).

(** * Adaptive composition *)

(* The histories of n steps, where step t publishes an outcome in T t. There is one history of 0 steps, and a history
   of m + 1 steps is a pair: a history h.1 of m steps, and the outcome h.2 of step m. Steps are counted from 0. *)
Fixpoint history (T : nat -> finType) (n : nat) : finType :=
  if n is m.+1 then [finType of history T m * T m] else [finType of unit].

(* An adaptive mechanism: for each step and each history, how the next outcome is distributed. There is a step n for
   every number n; `run P n` below is about the first n of them. A mechanism of n steps may be continued by steps that
   ignore the data, since every pair of distributions dominates two equal ones: hypotheses about later steps are no
   restriction. *)
Definition steps (T : nat -> finType) := forall n, history T n -> T n -> R.
Definition distributions (T : nat -> finType) (P : steps T) : Prop := forall n h, distribution (P n h).

(* The probability of a history: the product over the steps. *)
Fixpoint run (T : nat -> finType) (P : steps T) (n : nat) : history T n -> R :=
  if n is m.+1 then fun h => @run T P m h.1 * P m h.1 h.2 else fun=> 1.
Arguments run {T} P n h.

(* Independent steps, which ignore the history: `run (fixed A) n` is the product of A 0, ..., A (n-1). *)
Definition fixed (U : nat -> finType) (A : forall n, U n -> R) : steps U := fun n _ => A n.

(* pairs/pairs.md, section 2. Adaptive composition. P and Q are the same mechanism on two neighbouring datasets. If,
   for every m and every history h, (A m, B m) dominates step m after h, then the product of these pairs dominates n
   steps. Steps may be of different kinds, each with its own outcomes and pair. The pairs do not depend on h. *)
Definition Adaptive_composition : Prop :=
  forall (T U : nat -> finType) (P Q : steps T) (A B : forall n, U n -> R) (n : nat),
  distributions P -> distributions Q -> (forall m, distribution (A m)) -> (forall m, distribution (B m)) ->
  (forall m h, dominates (P m h) (Q m h) (A m) (B m)) ->
  dominates (run P n) (run Q n) (run (fixed A) n) (run (fixed B) n).

(* pairs/pairs.md, section 2. Why `dominates` is about every a >= 0. There are (P, Q) and (A, B) such that (A, B) has
   the larger profile at every a >= 1, but two independent copies of (A, B) have the smaller profile at a = 47/20. *)
Definition Every_threshold_counts : Prop := exists (P Q A B : bool -> R),
  [/\ distribution P, distribution Q, distribution A & distribution B] /\
  (forall a, 1 <= a -> H a P Q <= H a A B) /\
  let twice (S : bool -> R) (z : bool * bool) := S z.1 * S z.2 in
  H (47%:R / 20%:R) (twice A) (twice B) < H (47%:R / 20%:R) (twice P) (twice Q).

(** * Samples *)

(* Records are the elements of a finite type I, and a dataset D is a set of them; two records with the same content are
   two elements. A mechanism M gives, for each set S of records, the distribution M S of its output. {set I} are the
   sets of records, `x |: D` is D with the record x, `x \notin D` says that D lacks x, `S \subset D` that every record
   of S is in D. `#|S|` is the number of records of S, and 'C(n, k) a binomial coefficient. *)

(* A Poisson sample of D: each record is drawn with probability q, independently. `coins q D S` is the probability that
   the records drawn are exactly those of S; `poisson q M D` is the distribution of the output of M on the sample. *)
Definition coins (I : finType) (q : R) (D S : {set I}) : R := \prod_(i in D) (if i \in S then q else 1 - q).
Definition poisson (I T : finType) (q : R) (M : {set I} -> T -> R) (D : {set I}) : T -> R :=
  fun y => \sum_(S : {set I} | S \subset D) coins q D S * M S y.

(* P with probability q, and Q otherwise. *)
Definition blend (T : finType) (q : R) (P Q : T -> R) : T -> R := fun y => (1 - q) * Q y + q * P y.

(* mechanisms/schemes/sampling.md, section 2. The profile of "P with probability q, and Q otherwise" against Q. *)
Definition Mixture_split : Prop := forall (T : finType) (q a : R) (P Q : T -> R),
  0 < q -> q <= 1 -> distribution P -> distribution Q ->
  (1 - q < a -> H a (blend q P Q) Q = q * H ((a - 1 + q) / q) P Q) /\
  (a <= 1 - q -> H a (blend q P Q) Q = 1 - a).

(* mechanisms/schemes/sampling.md, section 2. Advanced joint convexity, for a >= 1: the profile of two blends that have
   the part W0 in common. *)
Definition Advanced_joint_convexity : Prop := forall (T : finType) (q a : R) (W0 W1 W1' : T -> R),
  0 < q -> q <= 1 -> 1 <= a ->
  let a' := 1 + (a - 1) / q in let b := a / a' in
  H a (blend q W1 W0) (blend q W1' W0) <= q * ((1 - b) * H a' W1 W0 + b * H a' W1 W1').

(* pairs/pairs.md, section 7. A blend of the lower rate q' is dominated by the blend of the rate q. W0 is without the
   record, W1 with it; W1' is W0 if the record is removed, and has another record if it is replaced. *)
Definition Rate_grows : Prop := forall (T : finType) (W0 W1 W1' : T -> R) (q q' : R),
  distribution W0 -> distribution W1 -> distribution W1' -> 0 <= q' -> q' <= q -> q <= 1 ->
  dominates (blend q' W1 W0) (blend q' W1' W0) (blend q W1 W0) (blend q W1' W0).

(* mechanisms/schemes/sampling.md, section 3. A Poisson sample of rate q, where the first dataset has a record x that
   the second lacks. If (A, B) dominates M with x against M without x, on every set S of other records, then
   ((1-q) B + q A, B) dominates M on the sample. *)
Definition Poisson_removed : Prop :=
  forall (I T U : finType) (q : R) (M : {set I} -> T -> R) (A B : U -> R) (D : {set I}) (x : I),
  0 <= q -> q <= 1 -> x \notin D -> (forall S, distribution (M S)) -> distribution A -> distribution B ->
  (forall S : {set I}, S \subset D -> dominates (M (x |: S)) (M S) A B) ->
  dominates (poisson q M (x |: D)) (poisson q M D) (blend q A B) B.

(* mechanisms/schemes/sampling.md, section 3. The same where the second dataset has the record x: (B, (1-q) B + q A)
   dominates. The hypothesis is still about M with x first. *)
Definition Poisson_added : Prop :=
  forall (I T U : finType) (q : R) (M : {set I} -> T -> R) (A B : U -> R) (D : {set I}) (x : I),
  0 <= q -> q <= 1 -> x \notin D -> (forall S, distribution (M S)) -> distribution A -> distribution B ->
  (forall S : {set I}, S \subset D -> dominates (M (x |: S)) (M S) A B) ->
  dominates (poisson q M D) (poisson q M (x |: D)) B (blend q A B).

(* mechanisms/schemes/sampling.md, section 3. A whole run of n steps. Step m has a mechanism M m h, which may depend on
   the history h, and runs on a fresh Poisson sample of rate q m. The products of the pairs of the steps dominate the
   run, in both orders. *)
Definition Poisson_run : Prop :=
  forall (I : finType) (T U : nat -> finType) (q : nat -> R) (M : forall n, history T n -> {set I} -> T n -> R)
         (A B : forall n, U n -> R) (D : {set I}) (x : I) (n : nat),
  (forall m, 0 <= q m) -> (forall m, q m <= 1) -> x \notin D -> (forall m h S, distribution (M m h S)) ->
  (forall m, distribution (A m)) -> (forall m, distribution (B m)) ->
  (forall m h (S : {set I}), S \subset D -> dominates (M m h (x |: S)) (M m h S) (A m) (B m)) ->
  let with_x : steps T := fun m h => poisson (q m) (M m h) (x |: D) in
  let without_x : steps T := fun m h => poisson (q m) (M m h) D in
  let blends m := blend (q m) (A m) (B m) in
  dominates (run with_x n) (run without_x n) (run (fixed blends) n) (run (fixed B) n) /\
  dominates (run without_x n) (run with_x n) (run (fixed B) n) (run (fixed blends) n).

(* mechanisms/schemes/sampling.md, section 4. A Poisson sample where x is replaced by x', for a >= 1. h1 is at least the
   profile, at a', of M with x against M without x, and h2 that of M with x against M with x'. Then the profile on the
   samples, at a, is at most q ((1-b) h1 + b h2). *)
Definition Poisson_replaced : Prop :=
  forall (I T : finType) (q a h1 h2 : R) (M : {set I} -> T -> R) (D : {set I}) (x x' : I),
  0 < q -> q <= 1 -> 1 <= a -> x \notin D -> x' \notin D ->
  let a' := 1 + (a - 1) / q in let b := a / a' in
  (forall S : {set I}, S \subset D -> H a' (M (x |: S)) (M S) <= h1) ->
  (forall S : {set I}, S \subset D -> H a' (M (x |: S)) (M (x' |: S)) <= h2) ->
  H a (poisson q M (x |: D)) (poisson q M (x' |: D)) <= q * ((1 - b) * h1 + b * h2).

(* An outcome of P with probability q, and otherwise None. *)
Definition diluted (T : finType) (q : R) (P : T -> R) : option T -> R :=
  fun o => if o is Some x then q * P x else 1 - q.

(* mechanisms/schemes/sampling.md, section 4. A Poisson sample where x is replaced by x', if nothing is known of M when
   a record is added: if (A, B) dominates M with x against M with x', the diluted pair dominates on the samples. *)
Definition Poisson_diluted : Prop :=
  forall (I T U : finType) (q : R) (M : {set I} -> T -> R) (A B : U -> R) (D : {set I}) (x x' : I),
  0 <= q -> q <= 1 -> x \notin D -> x' \notin D -> (forall S, distribution (M S)) -> distribution A -> distribution B ->
  (forall S : {set I}, S \subset D -> dominates (M (x |: S)) (M (x' |: S)) A B) ->
  dominates (poisson q M (x |: D)) (poisson q M (x' |: D)) (diluted q A) (diluted q B).

(* The output of M on b of the records of D, each set of b equally likely. *)
Definition fixed_size (I T : finType) (b : nat) (M : {set I} -> T -> R) (D : {set I}) : T -> R :=
  fun y => \sum_(S : {set I} | (S \subset D) && (#|S| == b)) M S y / 'C(#|D|, b)%:R.

(* mechanisms/schemes/sampling.md, section 5. A batch of b records. The first dataset has n records, the second is D,
   which lacks one of them, x, and has at least b. If (A, B) dominates M on a batch with x against the batch that has
   any other record j in the place of x, then ((1-q) B + q A, B) dominates, and (B, (1-q) B + q A) in the other order.
   The rate is q = b/n. *)
Definition Fixed_size_removed : Prop :=
  forall (I T U : finType) (b : nat) (M : {set I} -> T -> R) (A B : U -> R) (D : {set I}) (x : I),
  (0 < b <= #|D|)%N -> x \notin D -> (forall S, distribution (M S)) -> distribution A -> distribution B ->
  (forall (S : {set I}) j, S \subset D -> #|S|.+1 = b -> j \notin S -> dominates (M (x |: S)) (M (j |: S)) A B) ->
  let q := b%:R / #|D|.+1%:R in
  dominates (fixed_size b M (x |: D)) (fixed_size b M D) (blend q A B) B /\
  dominates (fixed_size b M D) (fixed_size b M (x |: D)) B (blend q A B).

(* mechanisms/schemes/sampling.md, section 5. A batch of b of n records, b < n, where x is replaced by x', for a >= 1.
   h is at least the profile, at a', of M on a batch with x against the batch that has any other record j in the place
   of x. Then the profile of the two datasets at a is at most q h, with q = b/n. *)
Definition Fixed_size_replaced : Prop :=
  forall (I T : finType) (b : nat) (a h : R) (M : {set I} -> T -> R) (D : {set I}) (x x' : I),
  (0 < b <= #|D|)%N -> 1 <= a -> x \notin D -> x' \notin D ->
  let q := b%:R / #|D|.+1%:R in let a' := 1 + (a - 1) / q in
  (forall (S : {set I}) j, S \subset D -> #|S|.+1 = b -> j \notin S -> H a' (M (x |: S)) (M (j |: S)) <= h) ->
  H a (fixed_size b M (x |: D)) (fixed_size b M (x' |: D)) <= q * h.

(* mechanisms/schemes/zero_out.md, section 4. A batch of b of n records, b < n, where x is zeroed: the record `null`,
   which contributes nothing, takes its place. Any c > 0 may be chosen. h is at least the profile, at a + k/c, of M on a
   batch with x against the batch with `null` in its place, and g that, at c, of a batch with `null` against the batch
   with any other record j in its place. Then the profile at a >= 1 is at most q (h + (k/c) g), with q = b/n. (The other
   order, where `null` comes first, is `Fixed_size_replaced`.) *)
Definition Fixed_size_zeroed : Prop :=
  forall (I T : finType) (b : nat) (a c h g : R) (M : {set I} -> T -> R) (D : {set I}) (x null : I),
  (0 < b <= #|D|)%N -> 1 <= a -> 0 < c -> x \notin D -> null \notin D ->
  let q := b%:R / #|D|.+1%:R in let k := (a - 1) * (1 - q) / q in
  (forall S : {set I}, S \subset D -> #|S|.+1 = b -> H (a + k / c) (M (x |: S)) (M (null |: S)) <= h) ->
  (forall (S : {set I}) j, S \subset D -> #|S|.+1 = b -> j \notin S -> H c (M (null |: S)) (M (j |: S)) <= g) ->
  H a (fixed_size b M (x |: D)) (fixed_size b M (null |: D)) <= q * (h + k / c * g).

(* The output of M on a Poisson sample that is cut to b records: if b or more are drawn, b of them are kept, and each
   set of b is equally likely. *)
Definition truncated (I T : finType) (q : R) (b : nat) (M : {set I} -> T -> R) (D : {set I}) : T -> R :=
  fun y => \sum_(S : {set I} | S \subset D) coins q D S * (if (#|S| < b)%N then M S y else fixed_size b M S y).

(* `full` is the probability that at least b records of D are drawn. `full_with` is the probability that this happens,
   and that one record more, which is not in D, is drawn and kept: it is kept with probability b/(s+1), if s others are
   drawn. *)
Definition full (I : finType) (q : R) (b : nat) (D : {set I}) : R :=
  \sum_(S : {set I} | (S \subset D) && (b <= #|S|)%N) coins q D S.
Definition full_with (I : finType) (q : R) (b : nat) (D : {set I}) : R :=
  \sum_(S : {set I} | (S \subset D) && (b <= #|S|)%N) coins q D S * (q * b%:R / #|S|.+1%:R).

(* mechanisms/schemes/truncated.md, section 2. The first dataset has a record x that D, the second one, lacks. (A1, B1)
   dominates M with x against M without x, for fewer than b other records; (A2, B2) dominates M on b records with x
   against the b records that have any other record in the place of x. Then (A, B) dominates, and (B, A) in the other
   order. This pair shows whether at least b others were drawn (inr) or not (inl). Let t and m be the two probabilities
   above. The first part is a blend of rate q, times 1 - t; the second part is a blend of rate m/t, times t. *)
Definition Truncated_removed : Prop :=
  forall (I T U1 U2 : finType) (q : R) (b : nat) (M : {set I} -> T -> R) (A1 B1 : U1 -> R) (A2 B2 : U2 -> R)
         (D : {set I}) (x : I),
  0 <= q -> q <= 1 -> (0 < b)%N -> x \notin D ->
  (forall S, distribution (M S)) -> distribution A1 -> distribution B1 -> distribution A2 -> distribution B2 ->
  (forall S : {set I}, S \subset D -> (#|S| < b)%N -> dominates (M (x |: S)) (M S) A1 B1) ->
  (forall (S : {set I}) j, S \subset D -> #|S|.+1 = b -> j \notin S -> dominates (M (x |: S)) (M (j |: S)) A2 B2) ->
  let t := full q b D in let m := full_with q b D in
  let A (z : U1 + U2) := match z with inl u => (1 - t) * blend q A1 B1 u | inr u => (t - m) * B2 u + m * A2 u end in
  let B (z : U1 + U2) := match z with inl u => (1 - t) * B1 u | inr u => t * B2 u end in
  [/\ distribution A, distribution B, dominates (truncated q b M (x |: D)) (truncated q b M D) A B &
      dominates (truncated q b M D) (truncated q b M (x |: D)) B A].

(* mechanisms/schemes/truncated.md, section 2. Another pair for the same. Let p be the probability that exactly b - 1
   others are drawn. Of the mass m of the runs that are cut and keep x, a part g is compared with these samples
   of b - 1 others, by (A1, B1). Any g from 0 to m is allowed; g = 0 is as good as `Truncated_removed`. *)
Definition Truncated_moved : Prop :=
  forall (I T U1 U2 : finType) (q g : R) (b : nat) (M : {set I} -> T -> R) (A1 B1 : U1 -> R) (A2 B2 : U2 -> R)
         (D : {set I}) (x : I),
  0 <= q -> q <= 1 -> (0 < b)%N -> x \notin D ->
  (forall S, distribution (M S)) -> distribution A1 -> distribution B1 -> distribution A2 -> distribution B2 ->
  (forall S : {set I}, S \subset D -> (#|S| < b)%N -> dominates (M (x |: S)) (M S) A1 B1) ->
  (forall (S : {set I}) j, S \subset D -> #|S|.+1 = b -> j \notin S -> dominates (M (x |: S)) (M (j |: S)) A2 B2) ->
  let t := full q b D in let m := full_with q b D in
  let p := \sum_(S : {set I} | (S \subset D) && (#|S|.+1 == b)) coins q D S in
  0 <= g -> g <= m ->
  let A (z : U1 + (U1 + U2)) := match z with
    | inl u => (1 - t - p) * blend q A1 B1 u
    | inr (inl u) => (1 - q) * p * B1 u + (q * p + g) * A1 u
    | inr (inr u) => (t - m) * B2 u + (m - g) * A2 u end in
  let B (z : U1 + (U1 + U2)) := match z with
    | inl u => (1 - t - p) * B1 u | inr (inl u) => p * B1 u | inr (inr u) => t * B2 u end in
  [/\ distribution A, distribution B, dominates (truncated q b M (x |: D)) (truncated q b M D) A B &
      dominates (truncated q b M D) (truncated q b M (x |: D)) B A].

(* mechanisms/schemes/truncated.md, section 3. One pair for all datasets D whose t is from s to u, and whose m/t is at
   most k, where k <= q. It needs that replacing a record costs at least as much as adding one: (A2, B2) dominates
   (A1, B1). *)
Definition Truncated_range : Prop :=
  forall (I T U1 U2 : finType) (q s u k : R) (b : nat) (M : {set I} -> T -> R) (A1 B1 : U1 -> R) (A2 B2 : U2 -> R)
         (D : {set I}) (x : I),
  0 <= q -> q <= 1 -> (0 < b)%N -> x \notin D ->
  (forall S, distribution (M S)) -> distribution A1 -> distribution B1 -> distribution A2 -> distribution B2 ->
  (forall S : {set I}, S \subset D -> (#|S| < b)%N -> dominates (M (x |: S)) (M S) A1 B1) ->
  (forall (S : {set I}) j, S \subset D -> #|S|.+1 = b -> j \notin S -> dominates (M (x |: S)) (M (j |: S)) A2 B2) ->
  dominates A1 B1 A2 B2 ->
  0 <= s -> s <= full q b D -> full q b D <= u -> u <= 1 ->
  0 <= k -> k <= q -> full_with q b D <= k * full q b D ->
  let A (z : U1 + (U2 + U2)) := match z with
    | inl y => (1 - u) * blend q A1 B1 y
    | inr (inl y) => (u - s) * blend q A2 B2 y
    | inr (inr y) => s * blend k A2 B2 y end in
  let B (z : U1 + (U2 + U2)) := match z with
    | inl y => (1 - u) * B1 y | inr (inl y) => (u - s) * B2 y | inr (inr y) => s * B2 y end in
  [/\ distribution A, distribution B, dominates (truncated q b M (x |: D)) (truncated q b M D) A B &
      dominates (truncated q b M D) (truncated q b M (x |: D)) B A].

(* mechanisms/schemes/truncated.md, section 3. If D grows to E, then t grows, and m/t falls. (The second claim is
   multiplied by both t, as they may be 0.) So the ends of a range of sizes give s, u and k. *)
Definition Full_grows : Prop := forall (I : finType) (q : R) (b : nat) (D E : {set I}),
  0 <= q -> q <= 1 -> (0 < b)%N -> D \subset E -> full q b D <= full q b E.
Definition Kept_falls : Prop := forall (I : finType) (q : R) (b : nat) (D E : {set I}),
  0 <= q -> q <= 1 -> (0 < b)%N -> D \subset E ->
  full_with q b E * full q b D <= full_with q b D * full q b E.

(* mechanisms/schemes/truncated.md, section 2. x is replaced by x', for a >= 1. The profile at a is at most the sum of
   two terms: the bound of `Poisson_replaced`, for fewer than b others, times 1 - t, and the bound of
   `Fixed_size_replaced` with the rate r = m/t, times t. If D has fewer than b records, t is 0, and the second term
   vanishes. *)
Definition Truncated_replaced : Prop :=
  forall (I T : finType) (q : R) (b : nat) (a h1 h2 h : R) (M : {set I} -> T -> R) (D : {set I}) (x x' : I),
  0 < q -> q <= 1 -> (0 < b)%N -> 1 <= a -> x \notin D -> x' \notin D ->
  let t := full q b D in let r := full_with q b D / t in
  let a' := 1 + (a - 1) / q in let c := a / a' in
  (forall S : {set I}, S \subset D -> (#|S| < b)%N -> H a' (M (x |: S)) (M S) <= h1) ->
  (forall S : {set I}, S \subset D -> (#|S| < b)%N -> H a' (M (x |: S)) (M (x' |: S)) <= h2) ->
  (forall (S : {set I}) j, S \subset D -> #|S|.+1 = b -> j \notin S ->
     H (1 + (a - 1) / r) (M (x |: S)) (M (j |: S)) <= h) ->
  H a (truncated q b M (x |: D)) (truncated q b M (x' |: D)) <=
    (1 - t) * (q * ((1 - c) * h1 + c * h2)) + t * (r * h).

(** * Steps allocated in secret *)

(* The steps `member i` of one record run with it (P), all others without it (Q). *)
Definition with_record (I : finType) (T : nat -> finType) (member : I -> nat -> bool) (P Q : steps T) (i : I) :
  steps T := fun n h => if member i n then P n h else Q n h.

(* mechanisms/schemes/allocation.md, section 1. The set of steps that hold the record is drawn in secret from w, any
   distribution on finitely many sets: one of m steps, k of m, or all visits of one bin. The other records draw their
   steps from v. Suppose that (A m, B m) dominates step m with the record against step m without it, for every draw j
   of the others and every history h. Then the run is dominated by the same average over products of pairs, in both
   orders. *)
Definition Random_allocation : Prop :=
  forall (J I : finType) (v : J -> R) (w : I -> R) (member : I -> nat -> bool) (T U : nat -> finType)
         (P Q : J -> steps T) (A B : forall n, U n -> R) (n : nat),
  distribution v -> distribution w -> (forall j, distributions (P j)) -> (forall j, distributions (Q j)) ->
  (forall m, distribution (A m)) -> (forall m, distribution (B m)) ->
  (forall j m h, dominates (P j m h) (Q j m h) (A m) (B m)) ->
  let run_with := mixture v (fun j => mixture w (fun i => run (with_record member (P j) (Q j) i) n)) in
  let run_without := mixture v (fun j => run (Q j) n) in
  let pair_with := mixture w (fun i => run (with_record member (fixed A) (fixed B) i) n) in
  let pair_without := run (fixed B) n in
  dominates run_with run_without pair_with pair_without /\
  dominates run_without run_with pair_without pair_with.

(* mechanisms/schemes/allocation.md, section 4. The set of steps is drawn in two stages: first g from p, then the set
   from w g. (For k of m steps, g is a random partition of the steps into k groups, and w g draws one step of each
   group.) If for every g the pair of w g is dominated by (C, D), so is the run, in both orders. *)
Definition Allocated_in_groups : Prop :=
  forall (G J I V : finType) (p : G -> R) (v : J -> R) (w : G -> I -> R) (member : I -> nat -> bool)
         (T U : nat -> finType) (P Q : J -> steps T) (A B : forall n, U n -> R) (C D : V -> R) (n : nat),
  distribution p -> distribution v -> (forall g, distribution (w g)) ->
  (forall j, distributions (P j)) -> (forall j, distributions (Q j)) ->
  (forall m, distribution (A m)) -> (forall m, distribution (B m)) -> distribution C -> distribution D ->
  (forall j m h, dominates (P j m h) (Q j m h) (A m) (B m)) ->
  (forall g, dominates (mixture (w g) (fun i => run (with_record member (fixed A) (fixed B) i) n)) (run (fixed B) n)
     C D) ->
  let run_with := mixture v (fun j => mixture (mixture p w) (fun i => run (with_record member (P j) (Q j) i) n)) in
  let run_without := mixture v (fun j => run (Q j) n) in
  dominates run_with run_without C D /\ dominates run_without run_with D C.

(* The sum over the steps of a history of values v t of their outcomes. *)
Fixpoint added (T : nat -> finType) (v : forall t, T t -> R) (n : nat) : history T n -> R :=
  if n is m.+1 then fun h => added v h.1 + v m h.2 else fun=> 0.

(* routes/allocation/proof.md, sections 5 and 11. One of n steps holds the record, each with probability 1/n; all
   visits of one bin may count as one step, whose outcome is that of all visits. Step t has the distribution C t without
   the record, C t * u t with the record x, and C t * w t with the record x' in its place, so that no loss is
   infinite. Then n times the profile at a is the mean, without the record, of the positive part of the sum of
   u t - a w t. (If x is removed, w = 1; if x' is added, u = 1.) *)
Definition Allocated_profile : Prop :=
  forall (T : nat -> finType) (C u w : forall t, T t -> R) (a : R) (n : nat), (forall t y, 0 <= C t y) ->
  let holds (i : 'I_n) (t : nat) := (i : nat) == t in
  let with_ratio (v : forall t, T t -> R) := mixture (fun _ : 'I_n => n%:R^-1)
    (fun i => run (with_record holds (fixed (fun t y => C t y * v t y)) (fixed C) i) n) in
  n%:R * H a (with_ratio u) (with_ratio w) =
    \sum_(h : history T n) run (fixed C) n h * pos (added (fun t y => u t y - a * w t y) h).

(* routes/allocation/proof.md, sections 5 and 11. From above, on any grid, also one of both signs. The mass C t y of
   each outcome y, with the value v t y, is cut into pieces K t y k, which get the values g t k. If the mean of the
   pieces is not smaller, or smaller by at most l t y, then the mean of the positive part of c plus a sum of independent
   values does not fall by more than the sum of all l. (The mean counts with its mass: it is C t y * v t y before, and
   the sum over k of K t y k * g t k after.) Masses E may be rounded up. *)
Definition Rounded_sums : Prop :=
  forall (T U : nat -> finType) (C v l : forall t, T t -> R) (K : forall t, T t -> U t -> R) (E g : forall t, U t -> R)
         (c : R) (n : nat),
  (forall t, distribution (C t)) -> (forall t y k, 0 <= K t y k) -> (forall t y, \sum_k K t y k = C t y) ->
  (forall t y, 0 <= l t y) -> (forall t y, C t y * v t y <= \sum_k K t y k * g t k + l t y) ->
  (forall t k, \sum_y K t y k <= E t k) ->
  \sum_(h : history T n) run (fixed C) n h * pos (c + added v h) <=
    \sum_(h : history U n) run (fixed E) n h * pos (c + added g h) + \sum_(t < n) \sum_y l t y.

(** * Filters *)

(* `vanishes_with P Q`: P(x) = 0 wherever Q(x) = 0. For such P and Q, and l = 2, 3, ..., the moment of order l is
   exp((l-1) D), where D is the Renyi divergence of order l. (In Coq, x / 0 is 0.) *)
Definition moment (l : nat) (T : finType) (P Q : T -> R) : R := \sum_x Q x * (P x / Q x) ^+ l.
Definition vanishes_with (T : finType) (P Q : T -> R) : Prop := forall x, Q x = 0 -> P x = 0.

(* `spent b h` is the product of b over the steps of the history h. *)
Fixpoint spent (T : nat -> finType) (b : forall n, history T n -> R) (n : nat) : history T n -> R :=
  if n is m.+1 then fun h => spent b h.1 * b m h.1 else fun=> 1.

(* budgets/filters.md, section 2. Each step is chosen in view of the outputs before. If step m, given the history h,
   has a moment of at most b m h, and no history of n steps spends more than C, then the whole run has a moment of at
   most C; and P vanishes where Q does, as in every step. (A run that stops earlier is continued by steps of P = Q and
   b = 1.) *)
Definition Filter : Prop :=
  forall (T : nat -> finType) (P Q : steps T) (b : forall n, history T n -> R) (l n : nat) (C : R),
  distributions P -> distributions Q -> (forall m h, vanishes_with (P m h) (Q m h)) ->
  (forall m h, 0 < b m h) -> (forall m h, moment l (P m h) (Q m h) <= b m h) ->
  (forall h : history T n, spent b h <= C) ->
  vanishes_with (run P n) (run Q n) /\ moment l (run P n) (run Q n) <= C.

(* notions/conversions.md, section 4. From a moment to the profile; the order is l + 2. *)
Definition Moment_to_profile : Prop := forall (T : finType) (P Q : T -> R) (l : nat) (a : R),
  distribution P -> distribution Q -> vanishes_with P Q -> 0 < a ->
  H a P Q <= l.+1%:R ^+ l.+1 / l.+2%:R ^+ l.+2 * (moment l.+2 P Q / a ^+ l.+1).

(* budgets/filters.md, section 3. Several orders at once; the order of k is l k + 2. By `Moment_to_profile` a moment of
   at most C k gives a profile of at most d k at a. If every history keeps the budget C k of at least one k, which may
   depend on the history, then the profile of the whole run at a is at most the sum of the d k. *)
Definition Filter_of_several_orders : Prop :=
  forall (K : finType) (T : nat -> finType) (P Q : steps T) (b : K -> forall n, history T n -> R) (l : K -> nat)
         (n : nat) (C d : K -> R) (a : R),
  distributions P -> distributions Q -> (forall m h, vanishes_with (P m h) (Q m h)) -> 0 < a ->
  (forall k, 0 <= d k) -> (forall k m h, 0 < b k m h) -> (forall k m h, moment (l k).+2 (P m h) (Q m h) <= b k m h) ->
  (forall k, (l k).+1%:R ^+ (l k).+1 / (l k).+2%:R ^+ (l k).+2 * (C k / a ^+ (l k).+1) <= d k) ->
  (forall h : history T n, exists k, spent (b k) h <= C k) ->
  H a (run P n) (run Q n) <= \sum_k d k.

(** * The lattice *)

(* routes/lattice/proof.md, sections 2 and 4. Spreading: the P-mass of each outcome x is cut into pieces, K x u at u. A
   piece at u has the ratio Q/P = y u. If the Q-mass of the pieces of x is at most that of x, then the pair with the
   pieces at u as the outcome u dominates. (Equality is the third item of the lemma; with one piece, a smaller Q-mass
   is the second.) *)
Definition Spread : Prop := forall (T U : finType) (P Q : T -> R) (K : T -> U -> R) (y : U -> R),
  (forall x u, 0 <= K x u) -> (forall x, \sum_u K x u = P x) -> (forall x, \sum_u K x u * y u <= Q x) ->
  let A u := \sum_x K x u in dominates P Q A (fun u => A u * y u).

(* A measure on the lattice is a polynomial p. Its coefficient p`_i is the mass at level i, i = 0, ..., size p - 1, and
   a product of polynomials is the convolution of the measures. Level i of step t has the ratio Q/P = g t * z ^+ i,
   where z = e^(-h) for the width h of the lattice, and g t = e^(-s) for the offset s of the step. The profile at a of
   a measure p with the offset g: *)
Definition lattice_profile (a g z : R) (p : {poly R}) : R := \sum_(j < size p) p`_j * pos (1 - a * (g * z ^+ j)).

(* The levels of step t, and one outcome more, None, for the rest. *)
Definition levels (m : nat -> nat) (t : nat) : finType := [finType of option 'I_(m t)].

(* routes/lattice/proof.md, sections 4 and 7. Steps of any kinds. Step t has a pair (A t, B t) on the levels 0, ...,
   m t - 1 and None. At the levels the ratio Q/P is at least that of the lattice; None stands for an infinite loss, and
   its P-mass is at most rest t. p t is at least the P-mass at every level, so that masses may be rounded up. Then the
   profile of n steps is at most the profile of the convolution plus the sum of the rests. *)
Definition Upper_measure : Prop :=
  forall (m : nat -> nat) (A B : forall t, levels m t -> R) (p : nat -> {poly R}) (g rest : nat -> R) (z a : R)
         (n : nat),
  (forall t, distribution (A t)) -> (forall t, distribution (B t)) -> 0 <= z -> (forall t, 0 <= g t) -> 0 <= a ->
  (forall t i, 0 <= (p t)`_i) ->
  (forall t (i : 'I_(m t)), A t (Some i) <= (p t)`_i) ->
  (forall t (i : 'I_(m t)), A t (Some i) * (g t * z ^+ i) <= B t (Some i)) ->
  (forall t, A t None <= rest t) ->
  H a (run (fixed A) n) (run (fixed B) n) <=
    lattice_profile a (\prod_(t < n) g t) z (\prod_(t < n) p t) + \sum_(t < n) rest t.

(* routes/lattice/proof.md, sections 5 and 7. The same from below: p t is at most the P-mass at every level, the ratio
   Q/P is at most that of the lattice, and None is left out. *)
Definition Lower_measure : Prop :=
  forall (m : nat -> nat) (A B : forall t, levels m t -> R) (p : nat -> {poly R}) (g : nat -> R) (z a : R)
         (n : nat),
  (forall t, distribution (A t)) -> (forall t, distribution (B t)) -> 0 <= z -> (forall t, 0 <= g t) -> 0 <= a ->
  (forall t i, 0 <= (p t)`_i) -> (forall t, (size (p t) <= m t)%N) ->
  (forall t (i : 'I_(m t)), (p t)`_i <= A t (Some i)) ->
  (forall t (i : 'I_(m t)), B t (Some i) <= A t (Some i) * (g t * z ^+ i)) ->
  lattice_profile a (\prod_(t < n) g t) z (\prod_(t < n) p t) <=
    H a (run (fixed A) n) (run (fixed B) n).

(* routes/lattice/proof.md, section 6. Tilting: if the mass at level i of step t is multiplied by c t * w^i, then the
   mass of the convolution at level j is multiplied by w^j and the product of the c t. *)
Definition Tilt : Prop := forall (p q : nat -> {poly R}) (c : nat -> R) (w : R) (n : nat),
  (forall t i, (q t)`_i = c t * w ^+ i * (p t)`_i) ->
  forall j, (\prod_(t < n) q t)`_j = (\prod_(t < n) c t) * w ^+ j * (\prod_(t < n) p t)`_j.

(* routes/lattice/proof.md, section 7. If masses p and q are rounded down, or replaced by 0, before they are convolved,
   no mass of the convolution becomes larger. *)
Definition Rounded_down : Prop := forall (p p' q q' : {poly R}),
  (forall i, 0 <= p'`_i /\ p'`_i <= p`_i) -> (forall i, 0 <= q'`_i /\ q'`_i <= q`_i) ->
  forall j, 0 <= (p' * q')`_j /\ (p' * q')`_j <= (p * q)`_j.

(* routes/lattice/proof.md, section 7. p.[1] is the value of p at 1, that is the sum of the coefficients. If c is p
   rounded down, the mass p.[1] - c.[1] is missing. A sum with weights w over p is at most the sum over c, and the
   missing mass with the largest weight W. *)
Definition Missing_mass : Prop := forall (p c : {poly R}) (w : nat -> R) (W : R),
  (forall i, 0 <= c`_i /\ c`_i <= p`_i) -> (forall i, w i <= W) ->
  \sum_(j < size p) p`_j * w j <= \sum_(j < size p) c`_j * w j + W * (p.[1] - c.[1]).

(* routes/lattice/proof.md, section 7. Total masses multiply. *)
Definition Total_mass : Prop := forall (p : nat -> {poly R}) (n : nat),
  (\prod_(t < n) p t).[1] = \prod_(t < n) (p t).[1].

(* routes/lattice/proof.md, section 8. A certificate, from the steps to the number: ten adaptive steps, each with P and
   Q at most a factor of 3 apart at every outcome (that is, log 3-differentially private), satisfy
   P(E) <= 9 Q(E) + 745/1000 for every event E. Coq computes the composition, in integers. *)
Definition Ten_responses : Prop := forall (T : nat -> finType) (P Q : steps T), distributions P -> distributions Q ->
  (forall n h x, P n h x <= 3%:R * Q n h x) -> (forall n h x, Q n h x <= 3%:R * P n h x) ->
  forall E : pred (history T 10),
  \sum_(x | E x) run P 10 x <= 9%:R * (\sum_(x | E x) run Q 10 x) + 745%:R / 1000%:R.

(* routes/lattice/proof.md, section 8. Another certificate, with samples: in each of ten adaptive steps, M runs on a
   fresh Poisson sample of rate 1/2, and is log 3-differentially private for adding or removing x. Let P be the run
   with x, and Q without. Then P(E) <= 4 Q(E) + 311/1000 and Q(E) <= 4 P(E) + 307/1000 for every event E. *)
Definition Ten_sampled_responses : Prop :=
  forall (I : finType) (T : nat -> finType) (M : forall n, history T n -> {set I} -> T n -> R) (D : {set I}) (x : I),
  x \notin D -> (forall m h S, distribution (M m h S)) ->
  (forall m h (S : {set I}) y, S \subset D -> M m h (x |: S) y <= 3%:R * M m h S y) ->
  (forall m h (S : {set I}) y, S \subset D -> M m h S y <= 3%:R * M m h (x |: S) y) ->
  let with_x : steps T := fun m h => poisson (1 / 2%:R) (M m h) (x |: D) in
  let without_x : steps T := fun m h => poisson (1 / 2%:R) (M m h) D in
  forall E : pred (history T 10),
  \sum_(y | E y) run with_x 10 y <= 4%:R * (\sum_(y | E y) run without_x 10 y) + 311%:R / 1000%:R /\
  \sum_(y | E y) run without_x 10 y <= 4%:R * (\sum_(y | E y) run with_x 10 y) + 307%:R / 1000%:R.

(* Kernel certificates. `checker.v` holds a program that reads a certificate of integers and answers true or false. What
   follows is what the answer true means; for that, nobody has to read the program.

   All numbers are binary fractions: `fraction (x, e)` is x / 2^e. A certificate has masses that are multiples of 2^-b,
   a threshold a (a lower bound of e^epsilon), a factor z (a lower bound of e^-h), delta, and a list of kinds of steps.
   A kind says how many such steps there are (`checker.count`), the ratio Q/P at level 0 (`checker.ratio`), the mass
   at infinite loss (`checker.infinite`) and the mass of each level 0, 1, ... (`checker.mass`). `checker.binary` is the
   type of pairs of whole numbers >= 0 in binary digits, which `nat_of_bin` and `nat_of_pos` convert. *)
Definition fraction (x : checker.binary) : R := (nat_of_bin x.1)%:R / 2%:R ^+ nat_of_bin x.2.

(* routes/lattice/proof.md, section 10. The certificate is accepted. Step t is of kind number `kind_of t`, and the
   kinds of the first n steps are those of the certificate, each as often as it says, in any order. (`seq` is a finite
   list, `iota 0 n` the list 0, ..., n-1, `nseq c k` a list of c entries k, `[seq f t | t <- s]` the list of all f t;
   `flatten` joins lists, `nth d s k` is entry k of s, or d if there is none, `perm_eq` compares lists up to order.)
   Each step, after every history, is dominated by a pair (A t, B t) on the levels 0, ..., m t - 1 and None. At level
   i, its P-mass is at most the mass of the certificate (0 if none is listed), and Q/P is at least the ratio times
   z^i; at None, its P-mass is at most the mass at infinite loss. Then P(E) <= c Q(E) + delta for every event E, and
   every c >= a. (For A and B in the place of P and Q, as steps that ignore the history, this bounds the product of
   the pairs. If outputs have infinitely many values, it is proven on paper, not in Coq, that this product dominates
   the run.) *)
Definition Kernel_certificate : Prop :=
  forall b (a z delta : checker.binary) (kinds : seq checker.kind), checker.accepted b a z kinds delta ->
  forall (T : nat -> finType) (P Q : steps T) (n : nat) (kind_of : nat -> nat),
  perm_eq [seq kind_of t | t <- iota 0 n]
    (flatten [seq nseq (nat_of_pos (checker.count (nth checker.no_kind kinds k))) k | k <- iota 0 (size kinds)]) ->
  let kind t := nth checker.no_kind kinds (kind_of t) in
  forall (m : nat -> nat) (A B : forall t, levels m t -> R),
  distributions P -> distributions Q -> (forall t, distribution (A t)) -> (forall t, distribution (B t)) ->
  (forall t h, dominates (P t h) (Q t h) (A t) (B t)) ->
  (forall t (i : 'I_(m t)), A t (Some i) <= fraction (checker.mass (kind t) i, b)) ->
  (forall t (i : 'I_(m t)), A t (Some i) * (fraction (checker.ratio (kind t)) * fraction z ^+ i) <= B t (Some i)) ->
  (forall t, A t None <= fraction (checker.infinite (kind t), b)) ->
  forall (c : R) (E : pred (history T n)), fraction a <= c ->
  \sum_(x | E x) run P n x <= c * (\sum_(x | E x) run Q n x) + fraction delta.

(** * Noise on whole numbers *)

(* `int` is the type of the whole numbers, and `seq int` that of finite lists of them. `uniq s` says that no number is
   in the list s twice, `\sum_(x <- s) w x` is the sum over the list, `size s` its length, and `rcons s x` the list with
   x added at its end. n%:Z is the natural number n as a whole number, `|x| an absolute value, and `|x|%N the absolute
   value of a whole number as a natural number. N.*2 is 2 N, `x ^ 2` a square, and `id` the function that returns its
   argument. *)

(* Z is the sum of all w x, for numbers w x >= 0: the least number that no finite sum exceeds. *)
Definition total (w : int -> R) (Z : R) : Prop :=
  (forall s : seq int, uniq s -> \sum_(x <- s) w x <= Z) /\
  (forall Y, (forall s : seq int, uniq s -> \sum_(x <- s) w x <= Y) -> Z <= Y).

(* A probability distribution on the whole numbers. *)
Definition distribution_on_int (F : int -> R) : Prop := (forall x, 0 <= F x) /\ total F 1.

(* Noise that is symmetric and log-concave: for any s >= 0, the ratio F(x - s)/F(x) does not fall from x to x + 1. *)
Definition log_concave_noise (F : int -> R) : Prop :=
  distribution_on_int F /\ (forall x, 0 < F x) /\ (forall x, F (- x) = F x) /\
  (forall x (s : nat), F (x - s%:Z) * F (x + 1) <= F (x + 1 - s%:Z) * F x).

(* mechanisms/noises/whole_numbers.md, section 1. The profile of noise that is moved by s, against noise that is not, is
   at most that of noise that is moved by D >= s, at every a >= 0: a bound d for the distance D holds for s, too. The
   bounds are for finite sets E of whole numbers; a bound for all of these holds for every set. *)
Definition Distance_grows : Prop := forall (F : int -> R) (s D : nat) (a d : R),
  log_concave_noise F -> (s <= D)%N -> 0 <= a ->
  (forall E : seq int, uniq E -> \sum_(x <- E) (F (x - D%:Z) - a * F x) <= d) ->
  forall E : seq int, uniq E -> \sum_(x <- E) (F (x - s%:Z) - a * F x) <= d.

(* A run of n steps that publish whole numbers. P l is the distribution of the next one, if those before are the list l.
   Finitely many histories publish numbers from -N to N only, for some N; an outcome i of a step is the number i - N.
   `numbers h` is the list of the numbers of the history h, and `within N P` the steps with these outcomes. (Their
   probabilities add up to less than 1, as the numbers outside are missing. They are those of P.) *)
Definition up_to (N : nat) : nat -> finType := fun=> [finType of 'I_(N.*2.+1)].
Fixpoint numbers (N n : nat) : history (up_to N) n -> seq int :=
  if n is m.+1 then fun h => rcons (@numbers N m h.1) (h.2%:Z - N%:Z) else fun=> [::].
Definition within (N : nat) (P : seq int -> int -> R) : steps (up_to N) := fun n h i => P (numbers h) (i%:Z - N%:Z).

(* pairs/pairs.md, section 2. Adaptive composition of steps that publish whole numbers. If after every list l of m
   numbers, P l(E) - a Q l(E) <= H a (A m) (B m) for every a >= 0 and every finite set E of whole numbers, then
   P(E) <= a Q(E) + d for n steps and every finite set E of histories (and so for every set), d being a bound of the
   profile of the product of the pairs at a. *)
Definition Whole_number_run : Prop :=
  forall (P Q : seq int -> int -> R) (U : nat -> finType) (A B : forall m, U m -> R) (n : nat) (a d : R),
  (forall l, distribution_on_int (P l)) -> (forall l, distribution_on_int (Q l)) ->
  (forall m, distribution (A m)) -> (forall m, distribution (B m)) ->
  (forall l c (E : seq int), 0 <= c -> uniq E ->
     \sum_(x <- E) (P l x - c * Q l x) <= H c (A (size l)) (B (size l))) ->
  0 <= a -> H a (run (fixed A) n) (run (fixed B) n) <= d ->
  forall (N : nat) (E : pred (history (up_to N) n)),
  \sum_(h | E h) run (within P) n h <= a * (\sum_(h | E h) run (within Q) n h) + d.

(* y = e^x. For real numbers x and k > |x|, (1 + x/k)^k <= e^x and e^x (1 - x/k)^k <= 1, and both become equations as k
   grows: e^x is the only real number with this property. (In the rational numbers no y has it, but for x = 0.) *)
Definition exponential (x y : R) : Prop := forall k : nat, `|x| < k%:R ->
  (1 + x / k%:R) ^+ k <= y /\ y * (1 - x / k%:R) ^+ k <= 1.

(* The noise F has F x proportional to t^(shape |x|). Z is the sum of these powers; among the real numbers it exists for
   0 <= t < 1 and the two shapes below. *)
Definition noise (t : R) (shape : nat -> nat) (F : int -> R) : Prop :=
  exists2 Z, total (fun x => t ^+ shape `|x|%N) Z & forall x, F x = t ^+ shape `|x|%N / Z.

(* Two runs of n answers in whole numbers, plus noise F: after the answers l, the next one is f l + noise on one dataset
   and g l + noise on the other, where f l and g l are at most D apart. Then P(E) <= c Q(E) + d for every finite set E
   of histories. *)
Definition private_answers (F : int -> R) (D n : nat) (c d : R) : Prop :=
  forall f g : seq int -> int, (forall l, `|f l - g l| <= D%:Z) ->
  forall (N : nat) (E : pred (history (up_to N) n)),
  \sum_(h | E h) run (within (fun l x => F (x - f l))) n h <=
    c * (\sum_(h | E h) run (within (fun l x => F (x - g l))) n h) + d.

(* mechanisms/noises/whole_numbers.md, section 3. Discrete Gaussian noise, F x proportional to e^(-x^2/(2 sigma^2)) for
   sigma = 4, on 16 answers. If a record that comes or goes changes each answer by at most 1, they are
   (4, 47/10^6)-differentially private; if a record that is replaced changes each by at most 2, (10, 99/10^7). *)
Definition Discrete_gaussians : Prop := forall (F : int -> R) (t : R),
  exponential (- (1 / 32%:R)) t -> noise t (fun x => x ^ 2)%N F ->
  (forall c, exponential 4%:R c -> private_answers F 1 16 c (47%:R / 10%:R ^+ 6)) /\
  (forall c, exponential 10%:R c -> private_answers F 2 16 c (99%:R / 10%:R ^+ 7)).

(* mechanisms/noises/whole_numbers.md, section 2. Discrete Laplace noise with F x proportional to e^(-|x|/10) on 100
   answers: (4, 345/10^7)-differentially private for a change of at most 1, (8, 243/10^6) for one of at most 2. *)
Definition Discrete_laplaces : Prop := forall (F : int -> R) (t : R),
  exponential (- (1 / 10%:R)) t -> noise t id F ->
  (forall c, exponential 4%:R c -> private_answers F 1 100 c (345%:R / 10%:R ^+ 7)) /\
  (forall c, exponential 8%:R c -> private_answers F 2 100 c (243%:R / 10%:R ^+ 6)).

End Kernel.
Arguments run {R T} P n h.
Arguments within {R N} P n h i.

(** * Integers *)

Local Open Scope nat_scope.

(* From here on all numbers are natural numbers; `^` is a power, `%/` division rounded down, `%%` its remainder,
   and B.-1 is B - 1 (0 for B = 0). *)

(* `packed B n x` is the number with the digits x 0, ..., x (n-1) in base B, lowest first. `slot_of_product n n' x y k`
   is entry k of the convolution of x and y: the sum of x i * y j over all i + j = k. *)
Definition packed (B n : nat) (x : nat -> nat) : nat := \sum_(i < n) x i * B ^ i.
Definition slot_of_product (n n' : nat) (x y : nat -> nat) (k : nat) : nat :=
  \sum_(i < n) \sum_(j < n' | i + j == k) x i * y j.

(* routes/lattice/proof.md, section 7. If the product of the two sums of digits is less than the base, the digit of the
   product at place k is entry k of the convolution. *)
Definition Packed_product : Prop := forall (B n n' k : nat) (x y : nat -> nat),
  (\sum_(i < n) x i) * (\sum_(j < n') y j) < B ->
  (packed B n x * packed B n' y) %/ B ^ k %% B = slot_of_product n n' x y k.

(* routes/lattice/proof.md, section 7. Shift the product by b bits to the right, and take the lowest w - b bits of the
   digit at place k: this is entry k of the convolution, divided by 2^b and rounded down. *)
Definition Packed_shift : Prop := forall (w b n n' k : nat) (x y : nat -> nat),
  b <= w -> (\sum_(i < n) x i) * (\sum_(j < n') y j) < 2 ^ w ->
  (packed (2 ^ w) n x * packed (2 ^ w) n' y) %/ 2 ^ b %/ (2 ^ w) ^ k %% 2 ^ (w - b) =
    slot_of_product n n' x y k %/ 2 ^ b.

(* routes/lattice/proof.md, section 7. If the sum of the digits is less than B - 1, it is the remainder of the number
   when divided by B - 1. *)
Definition Digit_sum : Prop := forall (B n : nat) (x : nat -> nat),
  \sum_(i < n) x i < B.-1 -> packed B n x %% B.-1 = \sum_(i < n) x i.
