(* Profiles: the best event, data processing, joint convexity, reversal. *)
From mathcomp Require Import all_ssreflect all_algebra.
From kernel Require Import statements.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section PositivePart.
Variable R : realFieldType.
Implicit Types x y c : R.

Lemma pos_ge0 x : 0 <= pos x. Proof. by rewrite /pos le_maxr lexx orbT. Qed.
Lemma pos_ge x : x <= pos x. Proof. by rewrite /pos le_maxr lexx. Qed.
Lemma pos_id x : 0 <= x -> pos x = x. Proof. by move=> h; apply/max_idPl. Qed.
Lemma pos_0 x : x <= 0 -> pos x = 0. Proof. by move=> h; apply/max_idPr. Qed.
Lemma pos_le x y : x <= y -> 0 <= y -> pos x <= y. Proof. by rewrite /pos le_maxl => -> ->. Qed.
Lemma pos_mono x y : x <= y -> pos x <= pos y.
Proof. by move=> h; apply: pos_le; rewrite ?pos_ge0 // (le_trans h) ?pos_ge. Qed.
Lemma posM c x : 0 <= c -> pos (c * x) = c * pos x.
Proof. by move=> h; rewrite /pos maxr_pmulr // mulr0. Qed.
Lemma posD x y : pos (x + y) <= pos x + pos y.
Proof. by apply: pos_le; rewrite ?addr_ge0 ?pos_ge0 // ler_add ?pos_ge. Qed.
Lemma pos_sum (I : Type) (r : seq I) (p : pred I) (F : I -> R) :
  pos (\sum_(i <- r | p i) F i) <= \sum_(i <- r | p i) pos (F i).
Proof.
elim/big_rec2: _ => [|i y x _ h]; first by rewrite pos_0.
by apply: le_trans (posD _ _) _; rewrite ler_add2l.
Qed.
(* Reversal, at one point. *)
Lemma posN x : pos x = x + pos (- x).
Proof.
case: (leP 0 x) => h; first by rewrite pos_id // pos_0 ?addr0 // oppr_le0.
by rewrite pos_0 ?ltW // pos_id ?subrr // oppr_ge0 ltW.
Qed.
End PositivePart.

Section Profiles.
Variable R : realFieldType.
Implicit Types (T U : finType) (a : R).

Lemma H_eq T a (P P' Q Q' : T -> R) : P =1 P' -> Q =1 Q' -> H a P Q = H a P' Q'.
Proof. by move=> e f; apply: eq_bigr => x _; rewrite e f. Qed.
Lemma dominates_eq T U (P P' Q Q' : T -> R) (A A' B B' : U -> R) :
  P =1 P' -> Q =1 Q' -> A =1 A' -> B =1 B' -> dominates P' Q' A' B' -> dominates P Q A B.
Proof. by move=> p q e f dom a a0; rewrite (H_eq a p q) (H_eq a e f); apply: dom. Qed.
Lemma H_ge0 T a (P Q : T -> R) : 0 <= H a P Q.
Proof. by apply: sumr_ge0 => x _; exact: pos_ge0. Qed.
Lemma H_same T a (P : T -> R) : distribution P -> H a P P = pos (1 - a).
Proof.
move=> [p p1]; rewrite /H -[RHS]mul1r -[X in _ = X * _]p1 mulr_suml; apply: eq_bigr => x _.
by rewrite -posM // mulrBr mulr1 mulrC.
Qed.
Lemma dominates_trans T U (V : finType) (P Q : T -> R) (A B : U -> R) (C D : V -> R) :
  dominates P Q A B -> dominates A B C D -> dominates P Q C D.
Proof. by move=> h k a a0; apply: le_trans (h a a0) (k a a0). Qed.

Lemma event_le T a (P Q : T -> R) (E : pred T) :
  \sum_(x | E x) P x - a * (\sum_(x | E x) Q x) <= H a P Q.
Proof.
rewrite mulr_sumr -sumrB /H (bigID E xpredT) /=.
rewrite ler_paddr ?sumr_ge0 // => [i _|]; first exact: pos_ge0.
by apply: ler_sum => i _; exact: pos_ge.
Qed.
Theorem best_event : Best_event R.
Proof.
move=> T P Q a; split; first exact: event_le.
exists [pred x | 0 < P x - a * Q x]; rewrite mulr_sumr -sumrB /H.
rewrite [RHS](bigID [pred x | 0 < P x - a * Q x]) /= [X in _ = _ + X]big1 ?addr0 => [|i].
  by apply: eq_bigr => i h; rewrite pos_id ?ltW.
by rewrite -leNgt => h; rewrite pos_0.
Qed.
Theorem dominated_is_private : Dominated_is_private R.
Proof.
move=> T U P Q A B a d dom a0 le E; rewrite -ler_subl_addl.
by apply: le_trans (event_le a P Q E) _; apply: le_trans (dom _ a0) le.
Qed.

Theorem shape_of_profiles : Shape_of_profiles R.
Proof.
move=> T P Q [p p1] [q q1]; split; [|split; [|split]].
- by rewrite -[RHS]p1; apply: eq_bigr => x _; rewrite mul0r subr0 pos_id.
- move=> a a0; split.
    apply: pos_le; last exact: H_ge0.
    rewrite -p1 -[X in _ - X]mulr1 -q1 mulr_sumr -sumrB; apply: ler_sum => x _; exact: pos_ge.
  by rewrite -p1; apply: ler_sum => x _; apply: pos_le; rewrite // ler_subl_addr ler_addl mulr_ge0.
- by move=> a b h; apply: ler_sum => x _; apply: pos_mono; rewrite ler_add2l ler_opp2 ler_wpmul2r.
- move=> a b t t0 t1; rewrite /H !mulr_sumr -big_split; apply: ler_sum => x _ /=.
  have s0 : 0 <= 1 - t by rewrite subr_ge0.
  rewrite -!posM //; apply: le_trans (posD _ _); apply: pos_mono.
  by rewrite le_eqVlt !mulrBr addrACA -opprD -mulrDl subrK mul1r !mulrA -mulrDl eqxx.
Qed.

Theorem data_processing : Data_processing R.
Proof.
move=> T U K P Q k a _; rewrite /H /push.
apply: (@le_trans _ _ (\sum_y \sum_x K x y * pos (P x - a * Q x))).
  apply: ler_sum => y _; rewrite mulr_sumr -sumrB; apply: le_trans (pos_sum _ _ _) _.
  by apply: ler_sum => x _; rewrite -posM ?(k x).1 // mulrBr mulrA -![_ * K x y]mulrC.
by rewrite exchange_big; apply: ler_sum => x _; rewrite -mulr_suml (k x).2 mul1r.
Qed.

Theorem joint_convexity : Joint_convexity R.
Proof.
move=> I T w P Q a w0; rewrite /H /mixture.
apply: (@le_trans _ _ (\sum_x \sum_i w i * pos (P i x - a * Q i x))).
  apply: ler_sum => x _; rewrite mulr_sumr -sumrB; apply: le_trans (pos_sum _ _ _) _.
  by apply: ler_sum => i _; rewrite -posM // mulrBr mulrCA.
by rewrite exchange_big; apply: ler_sum => i _; rewrite mulr_sumr.
Qed.
(* At one threshold. *)
Lemma mixture_le (I : finType) T (w : I -> R) (P Q : I -> T -> R) a d :
  distribution w -> (forall i, 0 < w i -> H a (P i) (Q i) <= d) -> H a (mixture w P) (mixture w Q) <= d.
Proof.
move=> [w0 w1] le; apply: le_trans (joint_convexity P Q a w0) _.
rewrite -[X in _ <= X]mul1r -w1 mulr_suml; apply: ler_sum => i _.
move: (w0 i); rewrite le_eqVlt => /orP [/eqP <-|h]; first by rewrite !mul0r.
by apply: ler_wpmul2l; rewrite ?w0 ?le.
Qed.
Theorem draws_revealed : Draws_revealed R.
Proof. by move=> I T U w P Q A B lw dom a a0; apply: mixture_le => // i h; apply: dom. Qed.

Theorem reversal : Reversal R.
Proof.
move=> T P Q a [_ p1] [_ q1] h.
rewrite -p1 -[X in _ - X]mulr1 -q1 !mulr_sumr -sumrB -big_split /=; apply: eq_bigr => x _.
by rewrite posN opprB -posM ?ltW // mulrBr mulVKf // gt_eqF.
Qed.
Theorem mirrored : Mirrored R.
Proof. by move=> T P Q a d lP lQ a0 le; rewrite (reversal lP lQ a0) ler_add2l ler_pmul2l. Qed.
Theorem swapped : Swapped R.
Proof.
move=> T U P Q A B lP lQ lA lB dom a; rewrite le_eqVlt => /orP [/eqP <-|h].
  by rewrite (shape_of_profiles lQ lP).1 (shape_of_profiles lB lA).1.
rewrite (reversal lQ lP h) (reversal lB lA h) ler_add2l ler_pmul2l //; apply: dom.
by rewrite invr_ge0 ltW.
Qed.

(* Outcomes of T and one more. *)
Lemma big_option (T : finType) (F : option T -> R) : \sum_o F o = F None + \sum_x F (Some x).
Proof.
rewrite (bigD1 None) //=; congr (_ + _).
rewrite (reindex_omap Some (fun o => o)) //=; last by case.
by apply: eq_bigl => i; rewrite eqxx.
Qed.

(* What composition needs of domination: positive parts of all combinations b P + c Q with b >= 0, also b = 0 and
   c > 0. Total masses must agree. *)
Lemma dominates_combined T U (P Q : T -> R) (A B : U -> R) (b c : R) :
  distribution P -> distribution Q -> distribution A -> distribution B -> dominates P Q A B -> 0 <= b ->
  \sum_x pos (b * P x + c * Q x) <= \sum_u pos (b * A u + c * B u).
Proof.
move=> lP lQ lA lB dom b0; case: (leP 0 c) => c0.
  have e (V : finType) (S S' : V -> R) (lS : distribution S) (lS' : distribution S') :
      \sum_x pos (b * S x + c * S' x) = b + c.
    under eq_bigr do rewrite pos_id ?addr_ge0 ?mulr_ge0 ?lS.1 ?lS'.1 //.
    by rewrite big_split /= -!mulr_sumr lS.2 lS'.2 !mulr1.
  by rewrite !e.
move: b0; rewrite le_eqVlt => /orP [/eqP <-|b0].
  rewrite big1 ?sumr_ge0 // => i _; first exact: pos_ge0.
  by rewrite mul0r add0r pos_0 // mulr_le0_ge0 ?lQ.1 ?ltW.
have e (V : finType) (S S' : V -> R) : \sum_x pos (b * S x + c * S' x) = b * H (- c / b) S S'.
  rewrite /H mulr_sumr; apply: eq_bigr => x _; rewrite -posM ?ltW // mulrBr.
  by rewrite mulrA mulrCA mulfV ?gt_eqF // mulr1 mulNr opprK.
by rewrite !e ler_pmul2l // dom // divr_ge0 ?oppr_ge0 ?ltW //.
Qed.

Lemma mixture_law (I : finType) T (w : I -> R) (P : I -> T -> R) :
  distribution w -> (forall i, distribution (P i)) -> distribution (mixture w P).
Proof.
move=> [w0 w1] lP; split=> [x|]; first by apply: sumr_ge0 => i _; rewrite mulr_ge0 ?(lP i).1.
by rewrite exchange_big /= -[RHS]w1; apply: eq_bigr => i _; rewrite -mulr_sumr (lP i).2 mulr1.
Qed.
End Profiles.
