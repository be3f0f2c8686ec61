(* Poisson samples that are cut to a largest size. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From kernel Require Import statements profiles sampling batches.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* A uniform choice of c records out of a random set, of which any two of one size are equally likely, is a uniform
   choice of c. *)
Section Nested.
Variables (R : realFieldType) (I : finType).
Implicit Types (S K D E X : {set I}).

Lemma sum_of_sizes E (h : nat -> R) :
  \sum_(X : {set I} | X \subset E) h #|X| = \sum_(j < #|E|.+1) 'C(#|E|, j)%:R * h j.
Proof.
rewrite (partition_big (fun X : {set I} => inord #|X| : 'I_#|E|.+1) xpredT) //=; apply: eq_bigr => j _.
rewrite -count_batches; apply: eq_big => X.
  by apply: andb_id2l => /subset_leq_card le; rewrite -val_eqE /= inordK.
by case/andP=> /subset_leq_card le /eqP <-; rewrite inordK.
Qed.

(* The sets between K and D are K with a set of other records of D. *)
Lemma sum_between K D (F : {set I} -> R) : K \subset D ->
  \sum_(S : {set I} | (K \subset S) && (S \subset D)) F S = \sum_(X : {set I} | X \subset D :\: K) F (K :|: X).
Proof.
move=> KD; rewrite (reindex_onto (fun X => K :|: X) (fun S => S :\: K)) /= => [|S /andP [KS _]]; last first.
  by rewrite -[RHS](setID S K) (setIidPr KS).
apply: eq_bigl => X; rewrite subsetUl subUset KD subsetD setDUl setDv set0U /=; apply: andb_id2l => XD.
by apply/eqP/idP => [/setDidPl|/setDidPl].
Qed.

Lemma nested c b D (g : nat -> R) (F : {set I} -> R) : (c <= b)%N -> (b <= #|D|)%N ->
  \sum_(S : {set I} | (S \subset D) && (b <= #|S|)%N)
    g #|S| * (\sum_(K : {set I} | (K \subset S) && (#|K| == c)) F K / 'C(#|S|, c)%:R) =
  (\sum_(S : {set I} | (S \subset D) && (b <= #|S|)%N) g #|S|) *
    (\sum_(K : {set I} | (K \subset D) && (#|K| == c)) F K / 'C(#|D|, c)%:R).
Proof.
move=> cb bD; pose h s := if (b <= s)%N then g s / 'C(s, c)%:R else 0 : R.
pose G : R := \sum_(j < (#|D| - c).+1) 'C(#|D| - c, j)%:R * h (c + j)%N.
have swap (f : {set I} -> R) :
    \sum_(S : {set I} | (S \subset D) && (b <= #|S|)%N)
      g #|S| * (\sum_(K : {set I} | (K \subset S) && (#|K| == c)) f K / 'C(#|S|, c)%:R) =
    (\sum_(K : {set I} | (K \subset D) && (#|K| == c)) f K) * G.
  transitivity (\sum_(S : {set I} | S \subset D) \sum_(K : {set I} | (K \subset S) && (#|K| == c)) f K * h #|S|).
    rewrite big_mkcondr; apply: eq_bigr => S _; rewrite /h; case: ifP => _.
      by rewrite mulr_sumr; apply: eq_bigr => K _; ring.
    by rewrite big1 // => K _; rewrite mulr0.
  rewrite (exchange_big_dep (fun K : {set I} => (K \subset D) && (#|K| == c))) /=; last first.
    by move=> S K SD /andP [KS ->]; rewrite (subset_trans KS SD).
  rewrite mulr_suml; apply: eq_bigr => K /andP [KD /eqP e]; rewrite -mulr_sumr; congr (_ * _).
  rewrite (eq_bigl (fun S : {set I} => (K \subset S) && (S \subset D))) => [|S]; last by rewrite e eqxx andbT andbC.
  rewrite sum_between // (eq_bigr (fun X : {set I} => h (c + #|X|)%N)) => [|X]; last first.
    by rewrite subsetD => /andP [_ dis]; rewrite cardsU disjoint_setI0 1?disjoint_sym // cards0 subn0 e.
  by rewrite (sum_of_sizes _ (fun j => h (c + j)%N)) cardsD (setIidPr KD) e.
have c0 s : (b <= s)%N -> 'C(s, c)%:R != 0 :> R.
  by move=> bs; rewrite pnatr_eq0 -lt0n bin_gt0 (leq_trans cb bs).
have one := swap (fun=> 1); rewrite count_batches mulr1 in one.
rewrite swap -mulr_suml -[in RHS](_ : 'C(#|D|, c)%:R * G = \sum_(S : {set I} | _) g #|S|).
  have e (u v w : R) : v != 0 -> u * w = v * w * (u / v) by move=> v0; field.
  exact: e (c0 _ bD).
rewrite -one; apply: eq_bigr => S /andP [_ bS].
by rewrite count_batches mul1r mulfV ?c0 // mulr1.
Qed.
End Nested.

Section OneTag.
Variables (R : realFieldType) (I T : finType) (q : R) (k : nat) (M : {set I} -> T -> R) (D : {set I}).
Hypotheses (q0 : 0 <= q) (q1 : q <= 1) (kD : (k < #|D|)%N).
Local Notation b := k.+1.
Local Notation m := #|D|.
Implicit Types (S : {set I}) (x : I).

Lemma coins_of_size S : S \subset D -> coins q D S = q ^+ #|S| * (1 - q) ^+ (m - #|S|).
Proof.
move=> sub; rewrite /coins (bigID (mem S)) /=; congr (_ * _).
  rewrite (eq_bigr (fun=> q)) => [|i /andP [_ ->] //]; rewrite prodr_const; congr (_ ^+ _).
  by apply: eq_card => i; rewrite unfold_in /= andb_idl // => /(subsetP sub).
rewrite (eq_bigr (fun=> 1 - q)) => [|i /andP [_ /negbTE ->] //]; rewrite prodr_const; congr (_ ^+ _).
by rewrite -{2}(setIidPr sub) -cardsD; apply: eq_card => i; rewrite unfold_in /= !inE andbC.
Qed.

Lemma full_ge0 : 0 <= full q b D. Proof. by apply: sumr_ge0 => S _; exact: coins_ge0. Qed.
Lemma few : \sum_(S : {set I} | (S \subset D) && (#|S| < b)%N) coins q D S = 1 - full q b D.
Proof.
apply/eqP; rewrite eq_sym subr_eq -(coins_sum q D) /full (bigID (fun S : {set I} => (#|S| < b)%N)) /=.
by apply/eqP; congr (_ + _); apply: eq_bigl => S; rewrite -leqNgt.
Qed.
Lemma kept_share S : (b <= #|S|)%N -> q * b%:R / #|S|.+1%:R <= 1.
Proof.
move=> bS; rewrite ler_pdivr_mulr ?ltr0Sn // mul1r.
by apply: le_trans (ler_pimull _ q1) _; rewrite ?ler0n // ler_nat leqW.
Qed.
Lemma full_with_bounds : 0 <= full_with q b D /\ full_with q b D <= full q b D.
Proof.
split.
  by apply: sumr_ge0 => S _; rewrite !mulr_ge0 ?coins_ge0 ?invr_ge0 ?ler0n.
by apply: ler_sum => S /andP [_ bS]; rewrite ler_pimulr ?coins_ge0 // kept_share.
Qed.

(* What the sample is if fewer than b others are drawn, and otherwise. *)
Definition fewer S : R := if (S \subset D) && (#|S| < b)%N then coins q D S else 0.
Lemma sum_fewer (F : {set I} -> R) :
  \sum_S fewer S * F S = \sum_(S : {set I} | (S \subset D) && (#|S| < b)%N) coins q D S * F S.
Proof. by rewrite [RHS]big_mkcond; apply: eq_bigr => S _; rewrite /fewer; case: ifP; rewrite ?mul0r. Qed.
Lemma fixed_size_all S y : #|S| = b -> fixed_size b M S y = M S y.
Proof.
move=> e; rewrite /fixed_size e binn; under eq_bigr do rewrite divr1.
apply: big_pred1 => K; rewrite -e; apply/andP/eqP => [[KS /eqP c]|-> //].
by apply/eqP; rewrite eqEcard KS c leqnn.
Qed.

Lemma fewer_ge0 S : 0 <= fewer S.
Proof. by rewrite /fewer; case: ifP => // _; exact: coins_ge0. Qed.
Lemma fewer_sum : \sum_S fewer S = 1 - full q b D.
Proof.
rewrite -few -(eq_bigr _ (fun S _ => mulr1 (coins q D S))) -sum_fewer.
by apply: eq_bigr => S _; rewrite mulr1.
Qed.
Lemma fewer_in S : 0 < fewer S -> S \subset D /\ (#|S| < b)%N.
Proof. by rewrite /fewer; case: ifP; rewrite ?ltxx // => /andP []. Qed.
Lemma full_le1 : full q b D <= 1.
Proof. by rewrite -subr_ge0 -fewer_sum sumr_ge0 // => S _; exact: fewer_ge0. Qed.
Lemma full_with_gt0 : 0 < q -> 0 < full_with q b D.
Proof.
move=> q_gt0; rewrite /full_with (bigD1 D) ?subxx //= ltr_paddr //.
  by apply: sumr_ge0 => S _; rewrite !mulr_ge0 ?coins_ge0 ?invr_ge0 ?ler0n.
rewrite coins_of_size // subnn expr0 mulr1.
by rewrite !mulr_gt0 ?exprn_gt0 ?invr_gt0 ?ltr0Sn.
Qed.

(* The samples of fewer than k others, and of exactly k = b - 1. *)
Definition fewest S : R := if (S \subset D) && (#|S| < k)%N then coins q D S else 0.
Definition exactly : R := \sum_(S : {set I} | (S \subset D) && (#|S|.+1 == b)) coins q D S.
Lemma fewest_ge0 S : 0 <= fewest S.
Proof. by rewrite /fewest; case: ifP => // _; exact: coins_ge0. Qed.
Lemma exactly_ge0 : 0 <= exactly. Proof. by apply: sumr_ge0 => S _; exact: coins_ge0. Qed.
Lemma fewest_in S : 0 < fewest S -> S \subset D /\ (#|S| < k)%N.
Proof. by rewrite /fewest; case: ifP; rewrite ?ltxx // => /andP []. Qed.
Lemma sum_exactly (F : {set I} -> R) :
  \sum_(S : {set I} | (S \subset D) && (#|S|.+1 == b)) coins q D S * F S =
  \sum_p slot R D k p * (exactly * F p.1).
Proof.
pose c : R := q ^+ k * (1 - q) ^+ (m - k).
have e (G : {set I} -> R) : \sum_(S : {set I} | (S \subset D) && (#|S|.+1 == b)) coins q D S * G S =
    c * (\sum_(S : {set I} | (S \subset D) && (#|S| == k)) G S).
  rewrite mulr_sumr; apply: eq_big => S; first by rewrite eqSS.
  by rewrite eqSS => /andP [sub /eqP s]; rewrite coins_of_size // s.
under eq_bigr do rewrite mulrCA.
rewrite -mulr_sumr (sum_slot_fst kD) e /exactly.
have -> : \sum_(S : {set I} | (S \subset D) && (#|S|.+1 == b)) coins q D S = c * 'C(m, k)%:R.
  have := e (fun=> 1); rewrite count_batches mulr1 => <-; apply: eq_bigr => S _; exact: esym (mulr1 _).
by rewrite -mulrA; congr (_ * _); rewrite mulrC divfK ?bin_k.
Qed.
Lemma sum_fewest_exactly (F : {set I} -> R) : \sum_S fewer S * F S =
  \sum_S fewest S * F S + \sum_(S : {set I} | (S \subset D) && (#|S|.+1 == b)) coins q D S * F S.
Proof.
rewrite sum_fewer (bigID (fun S : {set I} => (#|S| < k)%N)) /=; congr (_ + _).
  rewrite [RHS]big_mkcond [LHS]big_mkcond; apply: eq_bigr => S _; rewrite /fewest -andbA.
  have [less|_] := ltnP #|S| k; rewrite ?andbF ?mul0r ?if_same //.
  by rewrite (leqW less) andbT; case: ifP; rewrite ?mul0r.
apply: eq_bigl => S; rewrite -leqNgt -andbA; congr (_ && _).
by rewrite ltnS -eqn_leq eqSS.
Qed.
Lemma sum_fewest (F : {set I} -> R) :
  \sum_S fewer S * F S = \sum_S fewest S * F S + \sum_p slot R D k p * (exactly * F p.1).
Proof. by rewrite sum_fewest_exactly sum_exactly. Qed.
Lemma fewest_sum : \sum_S fewest S = 1 - full q b D - exactly.
Proof.
apply/eqP; rewrite eq_sym subr_eq -fewer_sum; have := sum_fewest_exactly (fun=> 1).
under eq_bigr do rewrite mulr1; move=> ->; under eq_bigr do rewrite mulr1.
by rewrite /exactly; under [in X in _ + X]eq_bigr do rewrite mulr1.
Qed.

(* Sums over the draws of at least b others. *)
Lemma many (g : nat -> R) c (F : {set I} -> T -> R) y : (c <= b)%N ->
  \sum_(S : {set I} | (S \subset D) && (b <= #|S|)%N) coins q D S * g #|S| * fixed_size c F S y =
  (\sum_(S : {set I} | (S \subset D) && (b <= #|S|)%N) coins q D S * g #|S|) * fixed_size c F D y.
Proof.
move=> cb; pose h s := q ^+ s * (1 - q) ^+ (m - s) * g s.
rewrite (eq_bigr (fun S : {set I} => h #|S| * fixed_size c F S y)) => [|S /andP [sub _]]; last by rewrite coins_of_size.
rewrite (nested h (fun S => F S y) cb kD); congr (_ * _).
by apply: eq_bigr => S /andP [sub _]; rewrite coins_of_size.
Qed.

Lemma truncated_without : truncated q b M D =1 fun y =>
  \sum_S fewer S * M S y + \sum_p slot R D k p * (full q b D * M (p.2 |: p.1) y).
Proof.
move=> y; rewrite /truncated sum_fewer (bigID (fun S : {set I} => (#|S| < b)%N)) /=; congr (_ + _).
  by apply: eq_bigr => S /andP [_ ->].
under [RHS]eq_bigr do rewrite mulrCA.
rewrite -mulr_sumr -[\sum_p _](batch_without D k M y).
transitivity ((\sum_(S : {set I} | (S \subset D) && (b <= #|S|)%N) coins q D S * 1) * fixed_size b M D y).
  rewrite -(many (fun=> 1)) //; apply: eq_big => S; first by rewrite -leqNgt.
  by case/andP=> _ /negbTE ->; rewrite mulr1.
by congr (_ * _); apply: eq_bigr => S _; rewrite mulr1.
Qed.
Lemma truncated_with x : x \notin D -> truncated q b M (x |: D) =1 fun y =>
  \sum_S fewer S * blend q (M (x |: S)) (M S) y +
  \sum_p slot R D k p * ((full q b D - full_with q b D) * M (p.2 |: p.1) y + full_with q b D * M (x |: p.1) y).
Proof.
move=> xD y; rewrite /truncated sum_fewer split_subsets // (bigID (fun S : {set I} => (#|S| < b)%N)) /=.
congr (_ + _).
  apply: eq_bigr => S /andP [sub less]; rewrite less coins_out // coins_in // /blend.
  rewrite cardsU1 (subset_notin xD sub) add1n.
  case: ltnP => [_|more]; first by ring.
  rewrite fixed_size_all ?cardsU1 ?(subset_notin xD sub); first by ring.
  by apply/eqP; rewrite eqn_leq more add1n less.
pose f S := coins q D S * 1 * fixed_size b M S y.
pose g (F : {set I} -> T -> R) c S := coins q D S * (q * b%:R / #|S|.+1%:R) * fixed_size c F S y.
transitivity (\sum_(S : {set I} | (S \subset D) && (b <= #|S|)%N)
    (f S + (g (fun S => M (x |: S)) k S - g M b S))).
  apply: eq_big => S; first by rewrite -leqNgt.
  case/andP=> sub; rewrite -leqNgt => less; rewrite coins_out // coins_in // ltnNge less /= cardsU1.
  rewrite (subset_notin xD sub) ltnNge add1n (leqW less) /= (batch_split less) ?(subset_notin xD sub) //.
  by rewrite /f /g; ring.
rewrite big_split sumrB /= (many (fun=> 1)) // !(many (fun s => q * b%:R / s.+1%:R)) //.
rewrite -/(full_with q b D) (eq_bigr (coins q D)) => [|S _]; last by rewrite mulr1.
rewrite -/(full q b D) (batch_without D k M y) /fixed_size -mulr_suml -(sum_slot_fst kD (fun S => M (x |: S) y)).
rewrite !mulr_sumr -sumrB -big_split; apply: eq_bigr => p _ /=; ring.
Qed.
End OneTag.

Section Theorems.
Variable R : realFieldType.

(* The two parts, each an average. *)
Lemma two_parts (J K T : finType) (v : J -> R) (w : K -> R) (P Q : J -> T -> R) (P' Q' : K -> T -> R) a d d' :
  (forall j, 0 <= v j) -> distribution w -> (forall j, 0 < v j -> H a (P j) (Q j) <= d) ->
  (forall k, 0 < w k -> H a (P' k) (Q' k) <= d') ->
  H a (fun y => \sum_j v j * P j y + \sum_k w k * P' k y) (fun y => \sum_j v j * Q j y + \sum_k w k * Q' k y)
    <= (\sum_j v j) * d + d'.
Proof.
move=> v0 lw le le'.
apply: (@le_trans _ _ (H a (mixture v P) (mixture v Q) + H a (mixture w P') (mixture w Q'))).
  rewrite /H -big_split; apply: ler_sum => y _ /=; apply: le_trans (posD _ _).
  by rewrite mulrDr opprD addrACA.
apply: ler_add; last exact: mixture_le.
apply: le_trans (joint_convexity P Q a v0) _; rewrite mulr_suml; apply: ler_sum => j _.
move: (v0 j); rewrite le_eqVlt => /orP [/eqP <-|h]; first by rewrite !mul0r.
by apply: ler_wpmul2l; rewrite ?v0 ?le.
Qed.
Lemma two_parts_law (J K T : finType) (v : J -> R) (w : K -> R) (t : R) (P : J -> T -> R) (P' : K -> T -> R) :
  (forall j, 0 <= v j) -> \sum_j v j = 1 - t -> distribution w -> (forall j, distribution (P j)) ->
  (forall k y, 0 <= P' k y) -> (forall k, \sum_y P' k y = t) ->
  distribution (fun y => \sum_j v j * P j y + \sum_k w k * P' k y).
Proof.
move=> v0 v1 [w0 w1] lP P0 P1; split=> [y|].
  by rewrite addr_ge0 // sumr_ge0 // => i _; rewrite mulr_ge0 ?(lP i).1.
rewrite big_split /= exchange_big /= (eq_bigr v) => [|j _]; last by rewrite -mulr_sumr (lP j).2 mulr1.
rewrite v1 exchange_big /= (eq_bigr (fun k => w k * t)) => [|k _]; last by rewrite -mulr_sumr P1.
by rewrite -mulr_suml w1 mul1r subrK.
Qed.

Lemma law_eq (T : finType) (P Q : T -> R) : P =1 Q -> distribution Q -> distribution P.
Proof. by move=> e [Q0 Q1]; split=> [x|]; [rewrite e | rewrite -[RHS]Q1; apply: eq_bigr => x _]. Qed.

Lemma truncated_law (I T : finType) (q : R) b (M : {set I} -> T -> R) (D : {set I}) :
  0 <= q -> q <= 1 -> (forall S, distribution (M S)) -> distribution (truncated q b M D).
Proof.
move=> q0 q1 lM; apply: (poisson_law q0 q1 (M := fun S y => if (#|S| < b)%N then M S y else fixed_size b M S y)) => S.
by case: ltnP => bS; [exact: lM | exact: fixed_size_law].
Qed.

(* Fewer than b others: nothing is ever cut. *)
Section Small.
Variables (I T : finType) (q : R) (k : nat) (M : {set I} -> T -> R) (D : {set I}).
Hypothesis Dk : (#|D| <= k)%N.
Lemma small_sample (S : {set I}) : S \subset D -> (#|S| <= k)%N.
Proof. by move=> /subset_leq_card h; exact: leq_trans h Dk. Qed.
Lemma small_full : full q k.+1 D = 0.
Proof. by rewrite /full big_pred0 // => S; apply/andP => -[/small_sample h]; rewrite ltnNge h. Qed.
Lemma small_full_with : full_with q k.+1 D = 0.
Proof. by rewrite /full_with big_pred0 // => S; apply/andP => -[/small_sample h]; rewrite ltnNge h. Qed.
Lemma small_without : truncated q k.+1 M D =1 poisson q M D.
Proof. by move=> y; apply: eq_bigr => S /small_sample h; rewrite ltnS h. Qed.
Lemma small_with x : x \notin D -> truncated q k.+1 M (x |: D) =1 poisson q M (x |: D).
Proof.
move=> xD y; apply: eq_bigr => S /subset_leq_card; rewrite cardsU1 xD add1n => h.
case: ltnP => // more; congr (_ * _); apply: fixed_size_all.
by apply/eqP; rewrite eqn_leq more (leq_trans h).
Qed.
End Small.

Theorem truncated_removed : Truncated_removed R.
Proof.
move=> I T U1 U2 q [|k] M A1 B1 A2 B2 D x q0 q1 // _ xD lM lA1 lB1 lA2 lB2 dom1 dom2 t m A B.
have [m0 mt] := full_with_bounds k D q0 q1.
have t1 : 0 <= 1 - t by rewrite subr_ge0 full_le1.
have tm : 0 <= t - m by rewrite subr_ge0.
have t0 : 0 <= t by apply: le_trans m0 mt.
have v0 := fewer_ge0 k D q0 q1; have v1 := fewer_sum q k D.
have lwith : distribution (truncated q k.+1 M (x |: D)) by exact: truncated_law.
have lwithout : distribution (truncated q k.+1 M D) by exact: truncated_law.
have lbA := blend_law q0 q1 lA1 lB1.
have lA : distribution A.
  split=> [[u|u]|].
  - by rewrite mulr_ge0 // lbA.1.
  - by rewrite addr_ge0 // mulr_ge0 // ?lA2.1 ?lB2.1.
  - by rewrite big_sumType /= big_split /= -!mulr_sumr lbA.2 lA2.2 lB2.2; ring.
have lB : distribution B.
  split=> [[u|u]|]; rewrite ?mulr_ge0 ?lB1.1 ?lB2.1 //.
  by rewrite big_sumType /= -!mulr_sumr lB1.2 lB2.2; ring.
have removed : dominates (truncated q k.+1 M (x |: D)) (truncated q k.+1 M D) A B.
  move=> a a0; have [kD|Dk] := ltnP k #|D|; last first.
    have [t_0 m_0] : t = 0 /\ m = 0 by split; [exact: small_full | exact: small_full_with].
    rewrite (H_eq a (small_with q M Dk xD) (small_without q M Dk)).
    apply: (@le_trans _ _ (H a (blend q A1 B1) B1)).
      by apply: poisson_removed => // S sub; apply: dom1; rewrite ?ltnS ?(small_sample Dk).
    rewrite [X in _ <= X]big_sumType /= ler_paddr ?sumr_ge0 // => [i _|]; first exact: pos_ge0.
    by rewrite t_0 subr0; apply: ler_sum => u _; rewrite !mul1r.
  have lw := slot_law R kD; rewrite (H_eq a (truncated_with q M kD xD) (truncated_without q M kD)).
  pose d' := \sum_u pos (m * A2 u + (t - m - a * t) * B2 u).
  have -> : H a A B = (1 - t) * H a (blend q A1 B1) B1 + d'.
    rewrite /H big_sumType /= mulr_sumr; congr (_ + _); apply: eq_bigr => u _.
      by rewrite -posM //; congr pos; ring.
    by congr pos; ring.
  rewrite -v1; apply: two_parts => // [S /fewer_in [sub few_S]|p /slot_in [sub e _ jS]].
    by apply: blend_dominated => //; apply: dom1.
  rewrite /H (eq_bigr (fun y => pos (m * M (x |: p.1) y + (t - m - a * t) * M (p.2 |: p.1) y))); last first.
    by move=> y _; congr pos; rewrite -/t -/m; ring.
  by apply: dominates_combined => //; apply: dom2 => //; rewrite e.
by split=> //; exact: swapped.
Qed.

(* Two pairs of measures at once. *)
Lemma H_add (T : finType) (P P' Q Q' : T -> R) a :
  H a (fun y => P y + P' y) (fun y => Q y + Q' y) <= H a P Q + H a P' Q'.
Proof.
rewrite /H -big_split; apply: ler_sum => y _ /=; apply: le_trans (posD _ _).
by apply: pos_mono; rewrite mulrDr opprD addrACA.
Qed.
Theorem truncated_moved : Truncated_moved R.
Proof.
move=> I T U1 U2 q g [|k] M A1 B1 A2 B2 D x q0 q1 // _ xD lM lA1 lB1 lA2 lB2 dom1 dom2 t m p g0 gm A B.
have [m0 mt] := full_with_bounds k D q0 q1.
have tm : 0 <= t - m by rewrite subr_ge0.
have t0 : 0 <= t by apply: le_trans m0 mt.
have mg : 0 <= m - g by rewrite subr_ge0.
have v0 := fewest_ge0 k D q0 q1; have v1 : \sum_S fewest q k D S = 1 - t - p := fewest_sum q k D.
have p0 : 0 <= p by exact: exactly_ge0.
have tp : 0 <= 1 - t - p by rewrite -v1 sumr_ge0 // => S _; exact: v0.
have s0 : 0 <= 1 - q by rewrite subr_ge0.
have lwith : distribution (truncated q k.+1 M (x |: D)) by exact: truncated_law.
have lwithout : distribution (truncated q k.+1 M D) by exact: truncated_law.
have lbA := blend_law q0 q1 lA1 lB1.
have lA : distribution A.
  split=> [[u|[u|u]]|] /=.
  - by rewrite mulr_ge0 // lbA.1.
  - have c0 : 0 <= q * p + g by rewrite addr_ge0 // mulr_ge0.
    by apply: addr_ge0; rewrite !mulr_ge0 ?lA1.1 ?lB1.1.
  - by apply: addr_ge0; rewrite mulr_ge0 ?lA2.1 ?lB2.1.
  rewrite !big_sumType /= !big_split /= -!mulr_sumr lbA.2 lA1.2 lB1.2 lA2.2 lB2.2; ring.
have lB : distribution B.
  split=> [[u|[u|u]]|] /=; rewrite ?mulr_ge0 ?lB1.1 ?lB2.1 //.
  rewrite !big_sumType /= -!mulr_sumr lB1.2 lB2.2; ring.
have removed : dominates (truncated q k.+1 M (x |: D)) (truncated q k.+1 M D) A B.
  move=> a a0; have [kD|Dk] := ltnP k #|D|; last first.
    have [t_0 m_0] : t = 0 /\ m = 0 by split; [exact: small_full | exact: small_full_with].
    have g_0 : g = 0 by apply/eqP; rewrite eq_le g0 andbT -m_0.
    rewrite (H_eq a (small_with q M Dk xD) (small_without q M Dk)).
    apply: (@le_trans _ _ (H a (blend q A1 B1) B1)).
      by apply: poisson_removed => // S sub; apply: dom1; rewrite ?ltnS ?(small_sample Dk).
    rewrite [X in _ <= X]big_sumType [X in _ <= _ + X]big_sumType /= addrA.
    apply: ler_paddr; first by apply: sumr_ge0 => i _; exact: pos_ge0.
    rewrite -big_split; apply: ler_sum => u _ /=; rewrite t_0 g_0 in tp *.
    rewrite -[X in pos X <= _](_ : (1 - 0 - p) * (blend q A1 B1 u - a * B1 u) +
      p * (blend q A1 B1 u - a * B1 u) = _); last by ring.
    apply: le_trans (posD _ _) _; rewrite ler_add // le_eqVlt; apply/orP; left; apply/eqP; congr pos;
      rewrite /blend; ring.
  have lw := slot_law R kD.
  pose P2 (s : {set I} * I) y := (1 - q) * p * M s.1 y + (q * p + g) * M (x |: s.1) y +
    ((t - m) * M (s.2 |: s.1) y + (m - g) * M (x |: s.1) y).
  pose Q2 (s : {set I} * I) y := p * M s.1 y + t * M (s.2 |: s.1) y.
  have eP : truncated q k.+1 M (x |: D) =1 fun y =>
      \sum_S fewest q k D S * blend q (M (x |: S)) (M S) y + \sum_s slot R D k s * P2 s y.
    move=> y; rewrite (truncated_with q M kD xD) (sum_fewest q kD (fun S => blend q (M (x |: S)) (M S) y)) -addrA.
    congr (_ + _); rewrite -big_split; apply: eq_bigr => s _ /=; rewrite -mulrDr; congr (_ * _).
    by rewrite /P2 /blend -[exactly q k D]/p -/t -/m; ring.
  have eQ : truncated q k.+1 M D =1 fun y => \sum_S fewest q k D S * M S y + \sum_s slot R D k s * Q2 s y.
    move=> y; rewrite (truncated_without q M kD) (sum_fewest q kD (fun S => M S y)) -addrA.
    by congr (_ + _); rewrite -big_split; apply: eq_bigr => s _ /=; rewrite -mulrDr.
  pose d1 := \sum_u pos ((q * p + g) * A1 u + ((1 - q) * p - a * p) * B1 u).
  pose d2 := \sum_u pos ((m - g) * A2 u + (t - m - a * t) * B2 u).
  have -> : H a A B = (1 - t - p) * H a (blend q A1 B1) B1 + (d1 + d2).
    rewrite /H !big_sumType /= [X in _ = X + _]mulr_sumr /d1 /d2; congr (_ + (_ + _)); apply: eq_bigr => u _.
    - by rewrite -posM //; congr pos; ring.
    - by congr pos; ring.
    - by congr pos; ring.
  rewrite (H_eq a eP eQ) -v1; apply: two_parts => // [S /fewest_in [sub few_S]|s /slot_in [sub e _ jS]].
    by apply: blend_dominated => //; apply: dom1 => //; exact: leqW.
  apply: le_trans (H_add _ _ _ _ _) _; apply: ler_add.
    rewrite /H (eq_bigr (fun y => pos ((q * p + g) * M (x |: s.1) y + ((1 - q) * p - a * p) * M s.1 y))); last first.
      by move=> y _ /=; congr pos; ring.
    by apply: dominates_combined; rewrite ?addr_ge0 ?mulr_ge0 //; apply: dom1; rewrite ?e.
  rewrite /H (eq_bigr (fun y => pos ((m - g) * M (x |: s.1) y + (t - m - a * t) * M (s.2 |: s.1) y))); last first.
    by move=> y _ /=; congr pos; ring.
  by apply: dominates_combined => //; apply: dom2 => //; rewrite e.
by split=> //; exact: swapped.
Qed.

Theorem truncated_replaced : Truncated_replaced R.
Proof.
move=> I T q [|k] a h1 h2 h M D x x' q_gt0 q1 // _ a1 xD xD' t r a' c le1 le2 le.
have [kD|Dk] := ltnP k #|D|; last first.
  rewrite (H_eq a (small_with q M Dk xD) (small_with q M Dk xD')) /t small_full // subr0 mul1r mul0r addr0.
  by apply: poisson_replaced => // S sub; [apply: le1 | apply: le2]; rewrite ?ltnS ?(small_sample Dk).
have q0 := ltW q_gt0; have [m0 mt] := full_with_bounds k D q0 q1.
have m_gt0 : 0 < full_with q k.+1 D by exact: full_with_gt0.
have t_gt0 : 0 < t by apply: lt_le_trans m_gt0 mt.
have r0 : 0 < r by rewrite divr_gt0.
have r1 : r <= 1 by rewrite ler_pdivr_mulr // mul1r.
rewrite (H_eq a (truncated_with q M kD xD) (truncated_with q M kD xD')).
rewrite -(fewer_sum q k D); apply: two_parts => [S||S /fewer_in [sub few_S]|p /slot_in [sub e _ jS]].
- exact: fewer_ge0.
- exact: slot_law.
- by apply: advanced_bound => //; [exact: le1 | exact: le2].
have tr : t * r = full_with q k.+1 D by rewrite mulrC divfK // gt_eqF.
rewrite /H (eq_bigr (fun y => t * pos (blend r (M (x |: p.1)) (M (p.2 |: p.1)) y
    - a * blend r (M (x' |: p.1)) (M (p.2 |: p.1)) y))) => [|y _]; last first.
  by rewrite -posM ?(ltW t_gt0) //; congr pos; rewrite -tr -/t /blend; ring.
rewrite -mulr_sumr ler_pmul2l //.
have := advanced_bound r0 r1 a1 (le p.1 p.2 sub (congr1 succn e) jS)
  (le p.1 x' sub (congr1 succn e) (subset_notin xD' sub)).
by rewrite -mulrDl subrK mul1r.
Qed.
Theorem truncated_range : Truncated_range R.
Proof.
move=> I T U1 U2 q s u k b M A1 B1 A2 B2 D x q0 q1 bD xD lM lA1 lB1 lA2 lB2 dom1 dom2 larger s0 st tu u1 k0 kq mk A B.
have [_ _ run_dom _] := truncated_removed q0 q1 bD xD lM lA1 lB1 lA2 lB2 dom1 dom2.
case: b bD dom1 dom2 st tu mk run_dom => // c cD _ _; set t := full q c.+1 D; set m := full_with q c.+1 D.
move=> st tu mk run_dom; have [m0 mt] := full_with_bounds c D q0 q1.
have t0 : 0 <= t by apply: le_trans m0 mt.
have us : 0 <= u - s by rewrite subr_ge0 (le_trans st).
have u'0 : 0 <= 1 - u by rewrite subr_ge0.
have k1 : k <= 1 by apply: le_trans kq q1.
have [lb1 lb2 lbk] := And3 (blend_law q0 q1 lA1 lB1) (blend_law q0 q1 lA2 lB2) (blend_law k0 k1 lA2 lB2).
have lA : distribution A.
  split=> [[y|[y|y]]|] /=; rewrite ?mulr_ge0 ?lb1.1 ?lb2.1 ?lbk.1 //.
  rewrite !big_sumType /= -!mulr_sumr lb1.2 lb2.2 lbk.2; ring.
have lB : distribution B.
  split=> [[y|[y|y]]|] /=; rewrite ?mulr_ge0 ?lB1.1 ?lB2.1 //.
  rewrite !big_sumType /= -!mulr_sumr lB1.2 lB2.2; ring.
have removed : dominates (truncated q c.+1 M (x |: D)) (truncated q c.+1 M D) A B.
  apply: dominates_trans run_dom _ => a a0.
  pose h1 := H a (blend q A1 B1) B1; pose h2 := H a (blend q A2 B2) B2; pose hk := H a (blend k A2 B2) B2.
  have h12 : h1 <= h2 by apply: blend_dominated.
  have hk2 : hk <= h2 by apply: rate_grows_removed.
  have -> : H a A B = (1 - u) * h1 + ((u - s) * h2 + s * hk).
    rewrite /H !big_sumType /= /h1 /h2 /hk /H !mulr_sumr.
    by congr (_ + (_ + _)); apply: eq_bigr => y _; rewrite -posM //; congr pos; ring.
  have second : \sum_y pos ((t - m) * B2 y + m * A2 y - a * (t * B2 y)) <= t * hk.
    have [t_0|t_neq0] := eqVneq t 0.
      have m_0 : m = 0 by apply/eqP; rewrite eq_le m0 andbT -t_0.
      by rewrite t_0 m_0 mul0r big1 // => y _; rewrite subrr !mul0r mulr0 addr0 subr0 pos_0.
    have t_gt0 : 0 < t by rewrite lt_neqAle eq_sym t_neq0.
    have r0 : 0 <= m / t by rewrite divr_ge0.
    have rk : m / t <= k by rewrite ler_pdivr_mulr.
    apply: (@le_trans _ _ (t * H a (blend (m / t) A2 B2) B2)); last first.
      by rewrite ler_wpmul2l //; apply: (rate_grows_removed lA2 lB2 r0 rk k1).
    rewrite /H mulr_sumr; apply: ler_sum => y _; rewrite -posM // le_eqVlt; apply/orP; left; apply/eqP.
    by congr pos; rewrite /blend -{1 2}[m](divfK t_neq0); move: (m / t) => r; ring.
  apply: (@le_trans _ _ ((1 - t) * h1 + t * hk)).
    rewrite /H big_sumType /=; apply: ler_add; last exact: second.
    rewrite /h1 /H mulr_sumr; apply: ler_sum => y _; rewrite -posM ?subr_ge0 ?(le_trans tu) //.
    by apply: pos_mono; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
  rewrite -subr_ge0 (_ : _ - _ = (u - t) * (h2 - h1) + (t - s) * (h2 - hk)); last by ring.
  by rewrite addr_ge0 // mulr_ge0 // subr_ge0.
split=> //; apply: swapped => //; [exact: truncated_law | exact: truncated_law].
Qed.
End Theorems.
