(* Convolutions as products of two integers. *)
From mathcomp Require Import all_ssreflect all_algebra.
From kernel Require Import statements.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.
Local Open Scope nat_scope.

(* Digits that are less than the base can be read off: what is left of place k begins with c k. *)
Lemma read_off B m (c : nat -> nat) k : (forall i, c i < B) -> (forall i, m <= i -> c i = 0) ->
  exists r, (\sum_(i < m) c i * B ^ i) %/ B ^ k = c k + B * r.
Proof.
move=> small; elim: k m c small => [|k IH] m c small beyond.
  rewrite expn0 divn1; case: m beyond => [|m] beyond.
    by exists 0; rewrite big_ord0 beyond // muln0.
  exists (\sum_(i < m) c i.+1 * B ^ i); rewrite big_ord_recl expn0 muln1; congr (_ + _).
  by rewrite big_distrr; apply: eq_bigr => i _ /=; rewrite /bump add1n expnS mulnCA.
case: m beyond => [|m] beyond; first by exists 0; rewrite big_ord0 div0n beyond // muln0.
have [r e] := IH m (fun i => c i.+1) (fun i => small i.+1) (fun i mi => beyond i.+1 mi).
exists r; rewrite -e expnS divnMA; congr (_ %/ _); rewrite big_ord_recl expn0 muln1.
rewrite (eq_bigr (fun i : 'I_m => B * (c i.+1 * B ^ i))) => [|i _]; last by rewrite /= /bump add1n expnS mulnCA.
have B0 : 0 < B by apply: leq_ltn_trans (small 0).
by rewrite -big_distrr /= mulnC addnC divnMDl // divn_small ?addn0.
Qed.

Section Product.
Variables (B n n' : nat) (x y : nat -> nat).
Local Notation c := (slot_of_product n n' x y).
Lemma product_digits : packed B n x * packed B n' y = \sum_(k < n + n') c k * B ^ k.
Proof.
have -> : \sum_(k < n + n') c k * B ^ k =
    \sum_(i < n) \sum_(j < n') \sum_(k < n + n' | i + j == k) x i * y j * B ^ k.
  rewrite (eq_bigr (fun k : 'I_(n + n') => \sum_(i < n) \sum_(j < n' | i + j == k) x i * y j * B ^ k)); last first.
    by move=> k _; rewrite big_distrl; apply: eq_bigr => i _; rewrite big_distrl.
  by rewrite exchange_big; apply: eq_bigr => i _; rewrite (exchange_big_dep xpredT).
rewrite /packed big_distrl; apply: eq_bigr => i _; rewrite big_distrr; apply: eq_bigr => j _ /=.
have ij : i + j < n + n' by rewrite -addSn leq_add // ltnW.
rewrite (big_pred1 (Ordinal ij)) /= => [|k]; first by rewrite expnD mulnACA.
by apply/eqP/eqP => [e|-> //]; apply: val_inj.
Qed.
Lemma slot_le k : c k <= (\sum_(i < n) x i) * (\sum_(j < n') y j).
Proof.
rewrite big_distrl; apply: leq_sum => i _; rewrite [X in _ <= X]big_distrr [X in X <= _]big_mkcond /=.
apply: leq_sum => j _.
by case: ifP.
Qed.
Lemma slot_beyond k : n + n' <= k -> c k = 0.
Proof.
move=> le; rewrite /slot_of_product big1 // => i _; rewrite big1 // => j /eqP e.
by move: le; rewrite -e leqNgt -addSn leq_add // ltnW.
Qed.
End Product.

Theorem packed_product : Packed_product.
Proof.
move=> B n n' k x y less; have small i := leq_ltn_trans (slot_le n n' x y i) less.
have [r e] := read_off k small (@slot_beyond n n' x y).
by rewrite product_digits e mulnC addnC modnMDl modn_small.
Qed.
Theorem packed_shift : Packed_shift.
Proof.
move=> w b n n' k x y bw less; have small i := leq_ltn_trans (slot_le n n' x y i) less.
have [r e] := read_off k small (@slot_beyond n n' x y).
have ew : 2 ^ w = 2 ^ b * 2 ^ (w - b) by rewrite -expnD subnKC.
rewrite product_digits -divnMA mulnC divnMA e ew -mulnA [2 ^ b * _]mulnC addnC divnMDl ?expn_gt0 //.
rewrite [2 ^ (w - b) * r]mulnC modnMDl modn_small // ltn_divLR ?expn_gt0 //.
by rewrite mulnC -ew.
Qed.

Theorem digit_sum : Digit_sum.
Proof.
move=> [|c] n x less //=.
have powers k : exists s, c.+1 ^ k = c * s + 1.
  elim: k => [|k [s e]]; first by exists 0; rewrite muln0.
  by exists (c.+1 * s + 1); rewrite expnS e mulnDr [X in _ = X + 1]mulnDr !muln1 -addnA [c + 1]addn1 mulnCA.
have [r e] : exists r, packed c.+1 n x = c * r + \sum_(i < n) x i.
  elim: n {less} => [|n [r e]]; first by exists 0; rewrite /packed !big_ord0 muln0.
  have [s es] := powers n; exists (r + x n * s); rewrite /packed !big_ord_recr /= -/(packed c.+1 n x) e es.
  by rewrite !mulnDr muln1 [x n * (c * s)]mulnCA addnACA.
by rewrite e mulnC modnMDl modn_small.
Qed.
