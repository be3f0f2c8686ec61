(* One of many steps holds the record: the profile is the mean of a sum of ratios, which rounding does not lower. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From kernel Require Import statements profiles composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Profile.
Variables (R : realFieldType) (T : nat -> finType) (C v : forall t, T t -> R).
Let A t (y : T t) := C y * v y.
Definition at_step (i : nat) : steps R T := fun t h => if i == t then fixed A h else fixed C h.
Notation with_ratio i n := (run (at_step i) n).
Lemma not_yet i n (h : history T n) : (n <= i)%N -> with_ratio i n h = run (fixed C) n h.
Proof.
elim: n h => [//|n IH] h ni /=; by rewrite IH 1?ltnW // /at_step (gtn_eqF ni).
Qed.
Lemma sum_of_places n (h : history T n) : \sum_(i < n) with_ratio (i : nat) n h = run (fixed C) n h * added v h.
Proof.
elim: n h => [|n IH] h; first by rewrite big_ord0 mulr0.
rewrite big_ord_recr /= not_yet // (_ : at_step n h.1 h.2 = C h.2 * v h.2); last by rewrite /at_step eqxx.
rewrite (eq_bigr (fun i : 'I_n => with_ratio (i : nat) n h.1 * C h.2)) => [|i _]; last first.
  by congr (_ * _); rewrite /at_step (ltn_eqF (ltn_ord i)).
have split (r s y x : R) : r * s * y + r * (y * x) = r * y * (s + x) by ring.
by rewrite -mulr_suml IH; exact: split.
Qed.
End Profile.

Section Rounding.
Variables (R : realFieldType) (T U : nat -> finType) (C v l : forall t, T t -> R) (K : forall t, T t -> U t -> R).
Variables (E g : forall t, U t -> R).
Hypotheses (lC : forall t, distribution (@C t)) (K0 : forall t y k, 0 <= @K t y k).
Hypotheses (KC : forall t y, \sum_k @K t y k = C y) (l0 : forall t y, 0 <= @l t y).
Hypotheses (mean : forall t y, @C t y * v y <= \sum_k K y k * g k + l y).
Hypotheses (up : forall t k, \sum_y @K t y k <= E k).
Let D t (k : U t) := \sum_y K y k.
Lemma D_law t : distribution (@D t).
Proof.
split=> [k|]; first by apply: sumr_ge0.
by rewrite exchange_big -(lC t).2; apply: eq_bigr => y _; exact: KC.
Qed.
Lemma one_rounding t s :
  \sum_y @C t y * pos (s + v y) <= \sum_k @D t k * pos (s + g k) + \sum_y @l t y.
Proof.
have -> : \sum_k @D t k * pos (s + g k) = \sum_(y : T t) \sum_(k : U t) K y k * pos (s + g k).
  by rewrite exchange_big; apply: eq_bigr => k _; rewrite mulr_suml.
rewrite -big_split; apply: ler_sum => y _ /=; rewrite -posM ?(lC t).1 //.
have -> : \sum_k K y k * pos (s + g k) = \sum_k pos (K y k * (s + g k)).
  by apply: eq_bigr => k _; rewrite posM.
apply: pos_le; last by rewrite addr_ge0 ?sumr_ge0 // => k _; exact: pos_ge0.
apply: (@le_trans _ _ (\sum_k K y k * (s + g k) + l y)).
  under eq_bigr do rewrite mulrDr.
  by rewrite big_split /= -mulr_suml KC mulrDr -addrA ler_add2l mean.
by rewrite ler_add2r; apply: ler_sum => k _; exact: pos_ge.
Qed.
Lemma sum_rounding n c : \sum_(h : history T n) run (fixed C) n h * pos (c + added v h) <=
  \sum_(h : history U n) run (fixed D) n h * pos (c + added g h) + \sum_(t < n) \sum_y @l t y.
Proof.
elim: n c => [|n IH] c; first by rewrite !sum_unit big_ord0 [X in _ <= X]addr0; exact: lexx.
rewrite big_ord_recr /= addrA; apply: (@le_trans _ _ (\sum_(h : history T n) run (fixed C) n h *
    (\sum_k @D n k * pos (c + added v h + g k)) + \sum_y @l n y)).
  rewrite -[X in _ + X]mul1r -[X in _ + X * _](run_law n (fixed_laws lC)).2 mulr_suml -big_split sum_last.
  apply: ler_sum => h _ /=; rewrite -mulrDr.
  apply: (@le_trans _ _ (run (fixed C) n h * \sum_y @C n y * pos (c + added v h + v y))).
    by rewrite mulr_sumr; apply: ler_sum => y _; rewrite /fixed mulrA addrA.
  by apply: ler_wpmul2l; [exact: (run_law n (fixed_laws lC)).1 | exact: one_rounding].
rewrite ler_add2r; apply: (@le_trans _ _ (\sum_k @D n k * (\sum_h run (fixed D) n h * pos (c + g k + added g h) +
    \sum_(t < n) \sum_y @l t y))).
  apply: (@le_trans _ _ (\sum_k @D n k * \sum_h run (fixed C) n h * pos (c + g k + added v h))).
    under eq_bigr do rewrite mulr_sumr.
    rewrite exchange_big /=; apply: ler_sum => k _; rewrite mulr_sumr; apply: ler_sum => h _.
    by rewrite mulrCA addrAC.
  by apply: ler_sum => k _; apply: ler_wpmul2l; [exact: (D_law n).1 | exact: IH].
under eq_bigr do rewrite mulrDr.
rewrite big_split -mulr_suml (D_law n).2 mul1r ler_add2r sum_last exchange_big /=.
apply: ler_sum => k _; rewrite mulr_sumr; apply: ler_sum => h _.
by rewrite /fixed mulrCA mulrA addrAC addrA.
Qed.
Lemma run_up n (h : history U n) : run (fixed D) n h <= run (fixed E) n h.
Proof.
elim: n h => [//|n IH] h /=; apply: ler_pmul; rewrite ?(D_law n).1 //; last exact: up.
exact: (run_law n (fixed_laws D_law)).1.
Qed.
End Rounding.

Lemma added_none (R : realFieldType) (T : nat -> finType) (v : forall t, T t -> R) n (h : history T n) :
  n = 0%N -> added v h = 0.
Proof. by case: n h. Qed.

Theorem allocated_profile (R : realFieldType) : Allocated_profile R.
Proof.
move=> T C u w a n C0 holds with_ratio.
have law_of (v : forall t, T t -> R) h : n%:R * with_ratio v h = run (fixed C) n h * added v h.
  have same : \sum_(i < n) run (with_record holds (fixed (fun t y => C t y * v t y)) (fixed C) i) n h =
    run (fixed C) n h * added v h by exact: sum_of_places.
  rewrite /with_ratio /mixture -mulr_sumr same mulrA; have [n0|n0] := posnP n; last first.
    by rewrite mulfV ?mul1r // pnatr_eq0 -lt0n.
  by rewrite (added_none _ _ n0) !mulr0.
have C_ge0 m (h : history T m) : 0 <= run (fixed C) m h 
  by elim: m h => [|m IH] h; [exact: ler01 | apply: mulr_ge0; [exact: IH | exact: C0]].
have linear m (h : history T m) : added (fun t y => u t y - a * w t y) h = added u h - a * added w h.
  elim: m h => [|m IH] h /=; first by rewrite mulr0 subr0.
  by rewrite IH mulrDr opprD addrACA.
rewrite /H mulr_sumr; apply: eq_bigr => h _; rewrite -posM ?ler0n // mulrBr mulrCA !law_of linear -posM //.
by congr pos; ring.
Qed.

Theorem rounded_sums (R : realFieldType) : Rounded_sums R.
Proof.
move=> T U C v l K E g c n lC K0 KC l0 mean up.
apply: le_trans (sum_rounding lC K0 KC l0 mean n c) _; rewrite ler_add2r; apply: ler_sum => h _.
by apply: ler_wpmul2r; [exact: pos_ge0 | exact: run_up].
Qed.
