(* Steps that are allocated in secret: the run as a whole has a pair, though no step has one. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From kernel Require Import statements profiles composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Allocation.
Variables (R : realFieldType) (I : finType) (member : I -> nat -> bool) (T U : nat -> finType).
Variables (P Q : steps R T) (A B : forall n, U n -> R).
Hypotheses (lP : distributions P) (lQ : distributions Q).
Hypotheses (lA : forall m, distribution (@A m)) (lB : forall m, distribution (@B m)).
Hypothesis dom : forall m h, dominates (@P m h) (@Q m h) (@A m) (@B m).
Let p n i := run (with_record member P Q i) n.
Let r n i := run (with_record member (fixed A) (fixed B) i) n.

Lemma with_laws (V : nat -> finType) (S S' : steps R V) i :
  distributions S -> distributions S' -> distributions (with_record member S S' i).
Proof. by move=> l l' n h; rewrite /with_record; case: ifP. Qed.

(* The induction: nonnegative weights w, which need not sum to 1, and any a >= 0. *)
Lemma allocated_weights n (w : I -> R) a : (forall i, 0 <= w i) -> 0 <= a ->
  \sum_h pos (\sum_i w i * @p n i h - a * run Q n h) <=
  \sum_h pos (\sum_i w i * @r n i h - a * run (fixed B) n h).
Proof.
elim: n w a => [|n IH] w a w0 a0; first by rewrite !sum_unit.
pose k i (x y : R) := if member i n then x else y.
have eT : \sum_(h : history T n.+1) pos (\sum_i w i * @p n.+1 i h - a * run Q n.+1 h) =
    \sum_h \sum_y pos (\sum_i w i * (@p n i h * k i (P h y) (Q h y)) - a * (run Q n h * Q h y)).
  rewrite sum_last; apply: eq_bigr => h _; apply: eq_bigr => y _; congr (pos (_ - _)).
  by apply: eq_bigr => i _; rewrite /k /p /= /with_record; case: ifP.
have eU : \sum_(h : history U n.+1) pos (\sum_i w i * @r n.+1 i h - a * run (fixed B) n.+1 h) =
    \sum_h \sum_(y : U n) pos (\sum_i w i * (@r n i h * k i (A y) (B y)) - a * (run (fixed B) n h * B y)).
  rewrite sum_last; apply: eq_bigr => h _; apply: eq_bigr => y _; congr (pos (_ - _)).
  by apply: eq_bigr => i _; rewrite /k /r /= /with_record /fixed; case: ifP.
rewrite eT eU => {eT eU}.
have split z (c : I -> R) x y : \sum_i w i * (c i * k i x y) - a * (z * y) =
    (\sum_(i | member i n) w i * c i) * x + (\sum_(i | ~~ member i n) w i * c i - a * z) * y.
  rewrite (bigID (member^~ n)) /= !mulr_suml mulrBl mulr_suml addrA -mulrA; congr (_ + _ - _).
    by apply: eq_bigr => i Ai; rewrite /k Ai mulrA.
  by apply: eq_bigr => i /negbTE Ai; rewrite /k Ai mulrA.
apply: (@le_trans _ _ (\sum_h \sum_(u : U n) pos (\sum_i w i * (@p n i h * k i (A u) (B u))
   - a * (run Q n h * B u)))).
  apply: ler_sum => h _.
  under eq_bigr do rewrite split.
  under [X in _ <= X]eq_bigr do rewrite split.
  apply: dominates_combined (@lP n h) (@lQ n h) (@lA n) (@lB n) (@dom n h) _.
  by apply: sumr_ge0 => i _; rewrite mulr_ge0 // (run_law _ (with_laws i lP lQ)).1.
rewrite exchange_big [X in _ <= X]exchange_big; apply: ler_sum => u _ /=.
have e z (c : I -> R) : \sum_i w i * (c i * k i (A u) (B u)) - a * (z * B u) =
    \sum_i (w i * k i (A u) (B u)) * c i - (a * B u) * z.
  by congr (_ - _); [apply: eq_bigr => i _|]; ring.
under eq_bigr do rewrite e.
under [X in _ <= X]eq_bigr do rewrite e.
apply: IH => [i|]; rewrite mulr_ge0 ?(lB n).1 // /k.
by case: ifP => _; rewrite ?(lA n).1 ?(lB n).1.
Qed.
End Allocation.

Theorem random_allocation (R : realFieldType) : Random_allocation R.
Proof.
move=> J I v w member T U P Q A B n lv lw lP lQ lA lB dom with' without pair_with pair_without.
have lwith : distribution with'.
  by apply: mixture_law => // j; apply: mixture_law => // i; apply: run_law; apply: with_laws.
have lwithout : distribution without by apply: mixture_law => // j; exact: run_law.
have lpw : distribution pair_with.
  by apply: mixture_law => // i; apply: run_law; apply: with_laws; exact: fixed_laws.
have lpwo : distribution pair_without by apply: run_law; exact: fixed_laws.
have removed : dominates with' without pair_with pair_without.
  apply: draws_revealed => // j _ a a0.
  exact (@allocated_weights R I member T U (P j) (Q j) A B (lP j) (lQ j) lA lB (dom j) n w a lw.1 a0).
by split=> //; apply: swapped.
Qed.

Theorem allocated_in_groups (R : realFieldType) : Allocated_in_groups R.
Proof.
move=> G J I V p v w member T U P Q A B C D n lp lv lw lP lQ lA lB lC lD dom groups with' without.
have lpw : distribution (mixture p w) by apply: mixture_law.
have lwith : distribution with'.
  by apply: mixture_law => // j; apply: mixture_law => // i; apply: run_law; apply: with_laws.
have lwithout : distribution without by apply: mixture_law => // j; exact: run_law.
pose staged g := mixture v (fun j => mixture (w g) (fun i => run (with_record member (P j) (Q j) i) n)).
have e1 : with' =1 mixture p staged.
  move=> h; rewrite /with' /staged /mixture; under [RHS]eq_bigr do rewrite mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => j _ /=; under [RHS]eq_bigr do rewrite mulrCA mulr_sumr.
  rewrite -mulr_sumr exchange_big; congr (_ * _); apply: eq_bigr => i _.
  by rewrite mulr_suml; apply: eq_bigr => g _; rewrite mulrA.
have e2 : without =1 mixture p (fun=> without) by move=> h; rewrite /mixture -mulr_suml lp.2 mul1r.
have removed : dominates with' without C D.
  apply: (dominates_eq e1 e2 (frefl _) (frefl _)); apply: draws_revealed => // g _.
  have [first _] := random_allocation member n lv (lw g) lP lQ lA lB dom.
  exact: dominates_trans first (groups g).
by split=> //; apply: swapped.
Qed.
