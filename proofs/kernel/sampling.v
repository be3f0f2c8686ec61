(* Poisson samples and batches of a fixed size. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From kernel Require Import statements profiles composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Blends.
Variable R : realFieldType.
Implicit Types (T U : finType) (q a : R).

Lemma blend_law T q (P Q : T -> R) : 0 <= q -> q <= 1 -> distribution P -> distribution Q -> distribution (blend q P Q).
Proof.
move=> q0 q1 [p p1] [r r1]; split=> [x|].
  by rewrite addr_ge0 // mulr_ge0 // subr_ge0.
by rewrite big_split /= -!mulr_sumr p1 r1 !mulr1 subrK.
Qed.
Lemma blend_combined T q a (P Q : T -> R) : H a (blend q P Q) Q = \sum_x pos (q * P x + (1 - q - a) * Q x).
Proof. by apply: eq_bigr => x _; congr pos; rewrite /blend; ring. Qed.

Theorem mixture_split : Mixture_split R.
Proof.
move=> T q a P Q q0 q1 [p p1] [r r1]; rewrite blend_combined; split=> h.
  rewrite /H mulr_sumr; apply: eq_bigr => x _; rewrite -posM ?ltW //; congr pos.
  by rewrite mulrBr mulrA [q * (_ / q)]mulrCA mulfV ?gt_eqF // mulr1; ring.
under eq_bigr => x _ do rewrite pos_id ?addr_ge0 ?mulr_ge0 ?(ltW q0) ?subr_ge0 //.
by rewrite big_split /= -!mulr_sumr p1 r1; ring.
Qed.

(* A blend grows with what is blended. *)
Lemma blend_dominated T U q (P Q : T -> R) (A B : U -> R) :
  0 <= q -> q <= 1 -> distribution P -> distribution Q -> distribution A -> distribution B -> dominates P Q A B ->
  dominates (blend q P Q) Q (blend q A B) B.
Proof. by move=> q0 q1 lP lQ lA lB dom a a0; rewrite !blend_combined; exact: dominates_combined. Qed.

Theorem rate_grows : Rate_grows R.
Proof.
move=> T W0 W1 W1' q q' l0 l1 l1' q'0 le q1 a a0; have q0 := le_trans q'0 le.
move: q0; rewrite le_eqVlt => /orP [/eqP e|q0].
  by rewrite (_ : q' = q) //; apply/eqP; rewrite eq_le le -e.
pose r := q' / q; have r0 : 0 <= r by rewrite divr_ge0 // ltW.
have r1 : r <= 1 by rewrite ler_pdivr_mulr // mul1r.
have e W : blend q' W W0 =1 blend r (blend q W W0) W0.
  by move=> y; rewrite /blend -{1 2}[q'](divfK (lt0r_neq0 q0)) -/r; ring.
rewrite (H_eq a (e W1) (e W1')); set P := blend q W1 W0; set Q := blend q W1' W0.
have lb W : distribution W -> distribution (blend q W W0) by move=> lW; apply: blend_law; rewrite // ltW.
apply: (@le_trans _ _ (r * H a P Q + (1 - r) * H a W0 W0)).
  rewrite /H !mulr_sumr -big_split; apply: ler_sum => y _ /=.
  rewrite -!posM ?subr_ge0 //; apply: le_trans (posD _ _); apply: pos_mono.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /(blend r); ring.
have [_ [bounds _]] := shape_of_profiles (lb _ l1) (lb _ l1'); have [low _] := bounds a a0.
rewrite (H_same a l0); apply: (@le_trans _ _ (r * H a P Q + (1 - r) * H a P Q)).
  by rewrite ler_add2l ler_wpmul2l ?subr_ge0.
by rewrite -mulrDl addrC subrK mul1r.
Qed.
(* The second distribution without the record. *)
Lemma rate_grows_removed T (P Q : T -> R) (q q' : R) :
  distribution P -> distribution Q -> 0 <= q' -> q' <= q -> q <= 1 -> dominates (blend q' P Q) Q (blend q P Q) Q.
Proof.
move=> lP lQ q'0 le q1 a a0; have e r : Q =1 blend r Q Q by move=> y; rewrite /blend; ring.
by rewrite (H_eq a (frefl _) (e q')) [X in _ <= X](H_eq a (frefl _) (e q)); apply: rate_grows.
Qed.

Lemma split_identity q a a' b u v w : a' * b = a -> q * a' = q + a - 1 ->
  (1 - q) * u + q * v - a * ((1 - q) * u + q * w) =
  q * (1 - b) * (v - a' * u) + q * b * (v - a' * w).
Proof. by move=> <- h; ring: h. Qed.
(* a' >= a and b = a / a' is a weight. *)
Lemma advanced_weights q a : 0 < q -> q <= 1 -> 1 <= a ->
  let a' := 1 + (a - 1) / q in let b := a / a' in
  [/\ 0 <= a', 0 <= b, 0 <= 1 - b, a' * b = a & q * a' = q + a - 1].
Proof.
move=> q0 q1 a1; cbv zeta; set a' := 1 + _ / q; set b := a / a'; have qn : q != 0 by rewrite gt_eqF.
have a'1 : a <= a'.
  by rewrite /a' -ler_subl_addl ler_pdivl_mulr // ler_pimulr // subr_ge0.
have a'0 : 0 < a' by apply: lt_le_trans a'1; apply: lt_le_trans ltr01 a1.
split; first exact: ltW.
- by rewrite divr_ge0 ?(ltW a'0) // (le_trans ler01 a1).
- by rewrite subr_ge0 ler_pdivr_mulr // mul1r.
- by rewrite mulrCA mulfV ?mulr1 // gt_eqF.
- by rewrite mulrDr mulr1 mulrCA mulfV // mulr1 addrA.
Qed.
Theorem advanced_joint_convexity : Advanced_joint_convexity R.
Proof.
move=> T q a W0 W1 W1' q0 q1 a1; have := advanced_weights q0 q1 a1; cbv zeta.
move: (1 + _ / q) => a'; move: (a / a') => b [a'0 b0 b1 ba qa].
rewrite /H mulrDr !mulrA !mulr_sumr -big_split /=; apply: ler_sum => x _.
rewrite /blend (split_identity _ _ _ ba qa); apply: le_trans (posD _ _) _.
by rewrite !posM ?mulr_ge0 ?(ltW q0) //.
Qed.
Lemma advanced_bound T q a (W0 W1 W1' : T -> R) h1 h2 :
  0 < q -> q <= 1 -> 1 <= a -> let a' := 1 + (a - 1) / q in let b := a / a' in
  H a' W1 W0 <= h1 -> H a' W1 W1' <= h2 ->
  H a (blend q W1 W0) (blend q W1' W0) <= q * ((1 - b) * h1 + b * h2).
Proof.
move=> q0 q1 a1; have := advanced_joint_convexity W0 W1 W1' q0 q1 a1.
have := advanced_weights q0 q1 a1; cbv zeta.
move: (1 + _ / q) => a'; move: (a / a') => b [a'0 b0 b1 _ _] le le1 le2; apply: le_trans le _.
by rewrite ler_pmul2l //; apply: ler_add; apply: ler_wpmul2l.
Qed.
End Blends.

Section Poisson.
Variables (R : realFieldType) (I : finType) (q : R).
Hypotheses (q0 : 0 <= q) (q1 : q <= 1).
Implicit Types (D S : {set I}) (x : I) (T U : finType).

Lemma subset_notin D S x : x \notin D -> S \subset D -> x \notin S.
Proof. by move=> xD /subsetP sub; apply: contra xD => /sub. Qed.

(* A subset of D with x either lacks x or is a subset of D with x added. *)
Lemma split_subsets D x (F : {set I} -> R) : x \notin D ->
  \sum_(S : {set I} | S \subset x |: D) F S = \sum_(S : {set I} | S \subset D) (F S + F (x |: S)).
Proof.
move=> xD; rewrite big_split (bigID (fun S : {set I} => x \in S)) /= addrC; congr (_ + _).
  apply: eq_bigl => S; apply/andP/idP => [[sub xS]|sub]; last first.
    by split; [exact: subset_trans sub (subsetUr _ _) | exact: subset_notin sub].
  apply/subsetP => y yS; have := subsetP sub y yS; rewrite !inE => /orP [/eqP e|//].
  by move: xS; rewrite -e yS.
rewrite (reindex_onto (fun S => x |: S) (fun S => S :\ x)) /= => [|S /andP [_ xS]]; last exact: setD1K.
apply: eq_bigl => S; rewrite setU11 andbT.
have [xS|xS] := boolP (x \in S).
  rewrite (_ : _ == _ = false) ?andbF; last by apply/eqP => e; move: xS; rewrite -e setD11.
  by symmetry; apply/negbTE; apply: contraL xS; exact: subset_notin.
rewrite setU1K // eqxx andbT; apply/idP/idP => h; last exact: setUS.
apply/subsetP => y yS; have := subsetP h y; rewrite !inE yS orbT => /(_ isT) /orP [/eqP e|//].
by move: xS; rewrite -e yS.
Qed.

Lemma coins_out D S x : x \notin D -> S \subset D -> coins q (x |: D) S = (1 - q) * coins q D S.
Proof. by move=> xD sub; rewrite /coins big_setU1 //= (negbTE (subset_notin xD sub)). Qed.
Lemma coins_in D S x : x \notin D -> S \subset D -> coins q (x |: D) (x |: S) = q * coins q D S.
Proof.
move=> xD sub; rewrite /coins big_setU1 //= setU11; congr (_ * _); apply: eq_bigr => j jD.
by rewrite !inE; case: eqP => // e; move: xD; rewrite -e jD.
Qed.
Lemma coins_ge0 D S : 0 <= coins q D S.
Proof. by apply: prodr_ge0 => i _; case: ifP; rewrite ?subr_ge0. Qed.
Lemma coins_sum D : \sum_(S : {set I} | S \subset D) coins q D S = 1.
Proof.
have [n le] := ubnP #|D|; elim: n D le => // n IH D le.
have [->|[x xD]] := set_0Vmem D.
  by under eq_bigl do rewrite subset0; rewrite big_pred1_eq /coins big_set0.
rewrite -(setD1K xD); have xN : x \notin D :\ x by rewrite setD11.
rewrite split_subsets //.
under eq_bigr => S sub do rewrite coins_out // coins_in // -mulrDl subrK mul1r.
by apply: IH; rewrite -ltnS (leq_trans _ le) // ltnS [X in (_ < X)%N](cardsD1 x) xD.
Qed.

(* The draw of the others, as a distribution on all sets. *)
Definition drawn D S : R := if S \subset D then coins q D S else 0.
Lemma drawn_law D : distribution (drawn D).
Proof.
split=> [S|]; first by rewrite /drawn; case: ifP => // _; exact: coins_ge0.
by rewrite -big_mkcond coins_sum.
Qed.
Lemma drawn_subset D S : 0 < drawn D S -> S \subset D.
Proof. by rewrite /drawn; case: ifP; rewrite ?ltxx. Qed.
Lemma poisson_without T (M : {set I} -> T -> R) D : poisson q M D =1 mixture (drawn D) M.
Proof.
by move=> y; rewrite /poisson /mixture big_mkcond; apply: eq_bigr => S _; rewrite /drawn; case: ifP; rewrite ?mul0r.
Qed.
Lemma poisson_with T (M : {set I} -> T -> R) D x : x \notin D ->
  poisson q M (x |: D) =1 mixture (drawn D) (fun S => blend q (M (x |: S)) (M S)).
Proof.
move=> xD y; rewrite /poisson split_subsets // big_mkcond; apply: eq_bigr => S _; rewrite /drawn.
case: ifP => sub; last by rewrite mul0r.
by rewrite coins_out // coins_in // /blend; ring.
Qed.
Lemma poisson_law T (M : {set I} -> T -> R) D : (forall S, distribution (M S)) -> distribution (poisson q M D).
Proof.
move=> lM; have [p p1] := mixture_law (drawn_law D) lM; split=> [y|]; first by rewrite poisson_without.
by rewrite -[RHS]p1; apply: eq_bigr => y _; rewrite poisson_without.
Qed.
End Poisson.

Section PoissonTheorems.
Variable R : realFieldType.

Theorem poisson_removed : Poisson_removed R.
Proof.
move=> I T U q M A B D x q0 q1 xD lM lA lB dom.
apply: dominates_eq (poisson_with q _ xD) (poisson_without _ _ _) (frefl _) (frefl _) _.
apply: draws_revealed => [|S /drawn_subset sub]; first exact: drawn_law.
by apply: blend_dominated => //; apply: dom.
Qed.
Theorem poisson_added : Poisson_added R.
Proof.
move=> I T U q M A B D x q0 q1 xD lM lA lB dom.
apply: swapped => //; try exact: poisson_law; try exact: blend_law.
exact: poisson_removed.
Qed.
Theorem poisson_run : Poisson_run R.
Proof.
move=> I T U q M A B D x n q0 q1 xD lM lA lB dom with_x without_x blends.
have lwith : distributions with_x by move=> m h; exact: poisson_law.
have lwithout : distributions without_x by move=> m h; exact: poisson_law.
have lblends m : distribution (blends m) by exact: blend_law.
split; apply: adaptive_composition => // m h.
  by apply: poisson_removed => // S sub; exact: dom.
by apply: poisson_added => // S sub; exact: dom.
Qed.
Theorem poisson_replaced : Poisson_replaced R.
Proof.
move=> I T q a h1 h2 M D x x' q0 q1 a1 xD xD' a' b le1 le2.
rewrite (H_eq a (poisson_with q _ xD) (poisson_with q _ xD')).
apply: mixture_le => [|S /drawn_subset sub]; first exact: drawn_law (ltW q0) q1 _.
by apply: advanced_bound => //; [exact: le1 | exact: le2].
Qed.

Lemma diluted_H (T : finType) q a (P Q : T -> R) : 0 <= q -> q <= 1 ->
  H a (diluted q P) (diluted q Q) = (1 - q) * pos (1 - a) + q * H a P Q.
Proof.
move=> q0 q1; rewrite /H big_option /= mulr_sumr; congr (_ + _).
  by rewrite -posM ?subr_ge0 //; congr pos; ring.
by apply: eq_bigr => x _; rewrite -posM //; congr pos; ring.
Qed.
Theorem poisson_diluted : Poisson_diluted R.
Proof.
move=> I T U q M A B D x x' q0 q1 xD xD' lM lA lB dom a a0.
rewrite (H_eq a (poisson_with q _ xD) (poisson_with q _ xD')) diluted_H //.
apply: mixture_le => [|S /drawn_subset sub]; first exact: drawn_law.
pose P (c : bool) := if c then M (x |: S) else M S.
pose Q (c : bool) := if c then M (x' |: S) else M S.
pose w (c : bool) := if c then q else 1 - q.
have e (F : bool -> T -> R) : blend q (F true) (F false) =1 mixture w F.
  by move=> y; rewrite /mixture big_bool /= addrC.
rewrite (H_eq a (e P) (e Q)); apply: le_trans (joint_convexity P Q a _) _.
  by case; rewrite //= subr_ge0.
rewrite big_bool /= addrC ler_add ?ler_wpmul2l ?subr_ge0 //; last exact: dom.
by rewrite H_same.
Qed.
End PoissonTheorems.
