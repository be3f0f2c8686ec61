(* Certificates inside Coq: it composes ten steps in integers, and concludes for every event. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From kernel Require Import statements profiles composition sampling lattice packing accepted.
From kernel Require checker.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* A pair of two levels: masses p0 and p1 under P, ratios g and g z. *)
Section TwoLevels.
Variables (R : realFieldType) (p0 p1 g z : R).
Let p (i : nat) := if i == 0%N then p0 else p1.
Definition two_P (t : nat) (o : levels (fun=> 2%N) t) : R := if (o : option 'I_2) is Some i then p i else 0.
Definition two_Q (t : nat) (o : levels (fun=> 2%N) t) : R :=
  if (o : option 'I_2) is Some i then p i * (g * z ^+ i) else 0.
Hypotheses (all_ge0 : [/\ 0 <= p0, 0 <= p1, 0 <= g & 0 <= z]).
Hypotheses (P1 : p0 + p1 = 1) (Q1 : p0 * g + p1 * (g * z) = 1).
Lemma p_ge0 i : 0 <= p i. Proof. by rewrite /p; case: all_ge0 => ? ? _ _; case: ifP. Qed.
Lemma two_P_distribution t : distribution (@two_P t).
Proof.
split=> [[i|] //|]; first exact: p_ge0.
by rewrite big_option !big_ord_recl big_ord0 /= add0r addr0.
Qed.
Lemma two_Q_distribution t : distribution (@two_Q t).
Proof.
case: all_ge0 => _ _ g0 z0; split=> [[i|] //|]; first by rewrite mulr_ge0 ?p_ge0 ?mulr_ge0 ?exprn_ge0.
by rewrite big_option !big_ord_recl big_ord0 /= add0r addr0 expr0 expr1 mulr1.
Qed.

(* Steps that it dominates, and an accepted certificate of its masses and ratios. *)
Variables (b : N) (c0 c1 : N) (n : positive) (a y x delta : checker.binary).
Hypotheses (c0_up : p0 <= fraction R (c0, b)) (c1_up : p1 <= fraction R (c1, b)).
Hypotheses (g_down : fraction R x <= g) (z_down : fraction R y <= z).
Lemma two_levels_private (T : nat -> finType) (P Q : steps R T) (e d : R) (k : nat) : nat_of_pos n = k ->
  checker.accepted b a y [:: (n, x, 0%num, [:: c0; c1])] delta -> distributions P -> distributions Q ->
  (forall k h, dominates (P k h) (Q k h) (@two_P k) (@two_Q k)) -> fraction R a <= e -> fraction R delta <= d ->
  forall E : pred (history T k), \sum_(x | E x) run P k x <= e * (\sum_(x | E x) run Q k x) + d.
Proof.
move=> <- ok lP lQ dom ae dd E.
apply: (@le_trans _ _ (e * (\sum_(x | E x) run Q (nat_of_pos n) x) + fraction R delta)); last by rewrite ler_add2l.
apply: (kernel_certificate ok (kind_of := fun=> 0%N) _ lP lQ two_P_distribution two_Q_distribution dom _ _ _ _ ae).
- have same j s : [seq 0%N | _ <- iota s j] = nseq j 0%N by elim: j s => //= j IH s; rewrite IH.
  by rewrite /= cats0 same.
- by move=> t [[|[|//]] i].
- move=> t [[|[|//]] i]; rewrite /= ler_wpmul2l ?p_ge0 // ?expr0 ?expr1 ?mulr1 //.
  by rewrite ler_pmul ?fraction_ge0.
by move=> t; exact: fraction_ge0.
Qed.
End TwoLevels.

(* Fractions that are at most p / q; and quarters. *)
Definition below (p q : N) : checker.binary := (p * 2 ^ 64 / q, 64)%num.
Definition quarters (k : N) : N := (k * 2 ^ 38)%num.
Section Fractions.
Variable R : realFieldType.
Notation val := (val R).
Lemma below_le p q : 0 < val q -> fraction R (below p q) <= val p / val q.
Proof.
move=> q0; rewrite fraction_eq ler_pdivr_mulr ?two_gt0 // mulrAC ler_pdivl_mulr // -val_two -!valM.
apply: val_le; apply/N.leb_le; rewrite N.mul_comm; apply: N.mul_div_le => e; by rewrite e ltxx in q0.
Qed.
Lemma quarters_eq k : fraction R (quarters k, 40%num) = val k / 4%:R.
Proof.
rewrite fraction_eq [two _ _](_ : _ = two R 38 * 4%:R); last by rewrite (twoD R 38 2) [two R 2]/two -natrX.
by rewrite valM val_two invfM mulrA mulfK ?two_neq0.
Qed.
End Fractions.

(* Randomised response that tells the truth with probability 3/4: level 0 has the ratio Q/P = 3, level 1 has 1/3. *)
Section Responses.
Variable R : realFieldType.
Let n2 : (2%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.
Let n3 : (3%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.
Let n4 : (4%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.
Let n8 : (8%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.
Let n9 : (9%:R : R) != 0. Proof. by rewrite pnatr_eq0. Qed.
Notation response_P := (@two_P R (1 / 4%:R) (3%:R / 4%:R)).
Notation response_Q := (@two_Q R (1 / 4%:R) (3%:R / 4%:R) (3%:R / 1) (1 / 9%:R)).
Lemma parts_ge0 : [/\ 0 <= 1 / 4%:R :> R, 0 <= 3%:R / 4%:R :> R, 0 <= 3%:R / 1 :> R & 0 <= 1 / 9%:R :> R].
Proof. by split; rewrite divr_ge0 ?ler0n ?ler01. Qed.
Lemma P_law t : distribution (@response_P t).
Proof. by apply: (two_P_distribution parts_ge0); field. Qed.
Lemma Q_law t : distribution (@response_Q t).
Proof. by apply: (two_Q_distribution parts_ge0); field. Qed.

(* What is log 3-differentially private is dominated: spread each outcome over the two levels. *)
Lemma pure_dominated (T : finType) (P Q : T -> R) t : distribution P -> distribution Q ->
  (forall x, P x <= 3%:R * Q x) -> (forall x, Q x <= 3%:R * P x) ->
  dominates P Q (@response_P t) (@response_Q t).
Proof.
move=> lP lQ PQ QP.
pose K (x : T) (o : levels (fun=> 2%N) t) : R := if (o : option 'I_2) is Some i then
  if i == 0 then (3%:R * Q x - P x) / 8%:R else 3%:R * (3%:R * P x - Q x) / 8%:R else 0.
pose y (o : levels (fun=> 2%N) t) : R := if (o : option 'I_2) is Some i then 3%:R / 1 * (1 / 9%:R) ^+ i else 0.
have s0 : \sum_x (3%:R * Q x - P x) / 8%:R = 1 / 4%:R.
  rewrite -mulr_suml sumrB -mulr_sumr lP.2 lQ.2; by field.
have s1 : \sum_x 3%:R * (3%:R * P x - Q x) / 8%:R = 3%:R / 4%:R.
  rewrite -mulr_suml -mulr_sumr sumrB -mulr_sumr lP.2 lQ.2; by field.
apply: dominates_trans (@spread R T _ P Q K y _ _ _) _.
- move=> x [i|] //=; case: ifP => _; rewrite ?mulr_ge0 ?invr_ge0 ?subr_ge0 ?ler0n //.
- by move=> x; rewrite big_option !big_ord_recl big_ord0 /K /=; field.
- by move=> x; rewrite big_option !big_ord_recl big_ord0 /K /y /= expr0 expr1 le_eqVlt; apply/orP; left;
  apply/eqP; field.
have e (o : levels (fun=> 2%N) t) : \sum_x K x o = @response_P t o.
  by case: o => [[[|[|//]] i]|] /=; rewrite ?s0 ?s1 // big1.
apply: (dominates_eq (P' := @response_P t) (Q' := @response_Q t) e _ (frefl _) (frefl _)) => // o.
by rewrite e; case: o => [i|] //=; rewrite mulr0.
Qed.

Lemma numbers : [/\ fraction R (below 3 1) <= 3%:R / 1, fraction R (below 1 9) <= 1 / 9%:R &
  fraction R (below 9 1) <= 9%:R].
Proof.
split; first exact: (@below_le R 3 1 ltr01); first by apply: (@below_le R 1 9); rewrite ltr0n.
by rewrite -[9%:R]divr1; exact: (@below_le R 9 1 ltr01).
Qed.
Lemma responses_private n k delta d : nat_of_pos n = k -> checker.accepted 40 (below 9 1) (below 1 9)
    [:: (n, below 3 1, 0%num, [:: quarters 1; quarters 3])] delta -> fraction R delta <= d ->
  forall (T : nat -> finType) (P Q : steps R T), distributions P -> distributions Q ->
  (forall k h x, P k h x <= 3%:R * Q k h x) -> (forall k h x, Q k h x <= 3%:R * P k h x) ->
  forall E : pred (history T k), \sum_(x | E x) run P k x <= 9%:R * (\sum_(x | E x) run Q k x) + d.
Proof.
move=> nk ok dd T P Q lP lQ PQ QP; have [h3 h9 ha] := numbers.
have sP : 1 / 4%:R + 3%:R / 4%:R = 1 :> R by field.
have sQ : 1 / 4%:R * (3%:R / 1) + 3%:R / 4%:R * (3%:R / 1 * (1 / 9%:R)) = 1 :> R by field.
have up1 : 1 / 4%:R <= fraction R (quarters 1, 40%num) by rewrite quarters_eq.
have up3 : 3%:R / 4%:R <= fraction R (quarters 3, 40%num) by rewrite quarters_eq.
have dom t h := pure_dominated t (lP t h) (lQ t h) (PQ t h) (QP t h).
exact (two_levels_private parts_ge0 sP sQ up1 up3 h3 h9 nk ok lP lQ dom ha dd).
Qed.
(* On a Poisson sample of rate 1/2: in the order with x first, and in the other. *)
Let half := 1 / 2%:R : R.
Lemma half_bounds : 0 <= half /\ half <= 1.
Proof. by rewrite /half div1r invr_ge0 ler0n invf_le1 ?ltr0n // ler1n. Qed.
Lemma with_are t : blend half (@response_P t) (@response_Q t) =1 @two_P R half half t /\
  @response_Q t =1 @two_Q R half half (3%:R / 2%:R) (1 / 3%:R) t.
Proof.
split=> -[[[|[|//]] i]|]; rewrite /blend /half //= ?expr0 ?expr1; by field.
Qed.
Lemma without_are t : @response_Q t =1 @two_P R (3%:R / 4%:R) (1 / 4%:R) t /\
  blend half (@response_P t) (@response_Q t) =1 @two_Q R (3%:R / 4%:R) (1 / 4%:R) (2%:R / 3%:R) (3%:R / 1) t.
Proof.
split=> -[[[|[|//]] i]|]; rewrite /blend /half //= ?expr0 ?expr1; by field.
Qed.

Section Sampled.
Variables (I : finType) (T : nat -> finType) (M : forall n, history T n -> {set I} -> T n -> R) (D : {set I}) (x : I).
Hypotheses (xD : x \notin D) (lM : forall m h S, distribution (@M m h S)).
Hypothesis MxM : forall m h (S : {set I}) y, S \subset D -> @M m h (x |: S) y <= 3%:R * @M m h S y.
Hypothesis MMx : forall m h (S : {set I}) y, S \subset D -> @M m h S y <= 3%:R * @M m h (x |: S) y.
Let with_x : steps R T := fun m h => poisson half (@M m h) (x |: D).
Let without_x : steps R T := fun m h => poisson half (@M m h) D.
Lemma sampled_distributions : distributions with_x /\ distributions without_x.
Proof. by have [h0 h1] := half_bounds; split=> m h; apply: poisson_law. Qed.
Lemma base m h (S : {set I}) : S \subset D ->
  dominates (@M m h (x |: S)) (@M m h S) (@response_P m) (@response_Q m).
Proof. by move=> sub; apply: pure_dominated => // y; [exact: MxM | exact: MMx]. Qed.
Variables (n : positive) (k : nat) (delta : checker.binary) (d : R).
Hypotheses (nk : nat_of_pos n = k) (dd : fraction R delta <= d).
Lemma more_numbers : [/\ fraction R (below 3 2) <= 3%:R / 2%:R, fraction R (below 1 3) <= 1 / 3%:R,
  fraction R (below 2 3) <= 2%:R / 3%:R & fraction R (below 4 1) <= 4%:R].
Proof.
split; [apply: (@below_le R 3 2) | apply: (@below_le R 1 3) | apply: (@below_le R 2 3) |]; rewrite ?ltr0n //.
by rewrite -[4%:R]divr1; exact: (@below_le R 4 1 ltr01).
Qed.
Lemma sampled_with : checker.accepted 40 (below 4 1) (below 1 3)
    [:: (n, below 3 2, 0%num, [:: quarters 2; quarters 2])] delta ->
  forall E : pred (history T k), \sum_(y | E y) run with_x k y <= 4%:R * (\sum_(y | E y) run without_x k y) + d.
Proof.
move=> ok; have [h0 h1] := half_bounds; have [lw lwo] := sampled_distributions; have [hg hz _ ha] := more_numbers.
have parts : [/\ 0 <= half, 0 <= half, 0 <= 3%:R / 2%:R :> R & 0 <= 1 / 3%:R :> R].
  by split; rewrite // divr_ge0 ?ler0n ?ler01.
have sP : half + half = 1 by rewrite /half; field.
have sQ : half * (3%:R / 2%:R) + half * (3%:R / 2%:R * (1 / 3%:R)) = 1 by rewrite /half; field.
have up : half <= fraction R (quarters 2, 40%num).
  by rewrite quarters_eq /half le_eqVlt; apply/orP; left; apply/eqP; rewrite -[val R 2]/(2%:R); field.
have dom t (h : history T t) : dominates (with_x h) (without_x h) (@two_P R half half t)
    (@two_Q R half half (3%:R / 2%:R) (1 / 3%:R) t).
  apply: dominates_eq (frefl _) (frefl _) (fun o => esym ((with_are t).1 o)) (fun o => esym ((with_are t).2 o)) _.
  by apply: poisson_removed => //; [exact: P_law | exact: Q_law | exact: base].
exact (two_levels_private parts sP sQ up up hg hz nk ok lw lwo dom ha dd).
Qed.
Lemma sampled_without : checker.accepted 40 (below 4 1) (below 3 1)
    [:: (n, below 2 3, 0%num, [:: quarters 3; quarters 1])] delta ->
  forall E : pred (history T k), \sum_(y | E y) run without_x k y <= 4%:R * (\sum_(y | E y) run with_x k y) + d.
Proof.
move=> ok; have [h0 h1] := half_bounds; have [lw lwo] := sampled_distributions; have [_ _ hg ha] := more_numbers.
have [hz _ _] := numbers.
have parts : [/\ 0 <= 3%:R / 4%:R :> R, 0 <= 1 / 4%:R :> R, 0 <= 2%:R / 3%:R :> R & 0 <= 3%:R / 1 :> R].
  by split; rewrite divr_ge0 ?ler0n ?ler01.
have sP : 3%:R / 4%:R + 1 / 4%:R = 1 :> R by field.
have sQ : 3%:R / 4%:R * (2%:R / 3%:R) + 1 / 4%:R * (2%:R / 3%:R * (3%:R / 1)) = 1 :> R by field.
have up3 : 3%:R / 4%:R <= fraction R (quarters 3, 40%num) by rewrite quarters_eq.
have up1 : 1 / 4%:R <= fraction R (quarters 1, 40%num) by rewrite quarters_eq.
have dom t (h : history T t) : dominates (without_x h) (with_x h) (@two_P R (3%:R / 4%:R) (1 / 4%:R) t)
    (@two_Q R (3%:R / 4%:R) (1 / 4%:R) (2%:R / 3%:R) (3%:R / 1) t).
  apply: dominates_eq (frefl _) (frefl _) (fun o => esym ((without_are t).1 o)) (fun o => esym ((without_are t).2 o)) _.
  by apply: poisson_added => //; [exact: P_law | exact: Q_law | exact: base].
exact (two_levels_private parts sP sQ up3 up1 hg hz nk ok lwo lw dom ha dd).
Qed.
End Sampled.
End Responses.

Lemma thousandths (R : realFieldType) k : fraction R (below k 1000) <= val R k / 1000%:R.
Proof. by apply: (@below_le R k 1000); rewrite ltr0n. Qed.

Theorem ten_responses (R : realFieldType) : Ten_responses R.
Proof.
have computed : checker.accepted 40 (below 9 1) (below 1 9)
  [:: (10%positive, below 3 1, 0%num, [:: quarters 1; quarters 3])] (below 745 1000) by vm_cast_no_check (erefl true).
exact (responses_private (erefl : nat_of_pos 10 = 10%N) computed (thousandths R _)).
Qed.

Theorem ten_sampled_responses (R : realFieldType) : Ten_sampled_responses R.
Proof.
move=> I T M D x xD lM MxM MMx with_x without_x E.
have first : checker.accepted 40 (below 4 1) (below 1 3)
  [:: (10%positive, below 3 2, 0%num, [:: quarters 2; quarters 2])] (below 311 1000) by vm_cast_no_check (erefl true).
have second : checker.accepted 40 (below 4 1) (below 3 1)
  [:: (10%positive, below 2 3, 0%num, [:: quarters 3; quarters 1])] (below 307 1000) by vm_cast_no_check (erefl true).
split; first exact (sampled_with xD lM MxM MMx (erefl : nat_of_pos 10 = 10%N) (thousandths R _) first E).
exact (sampled_without xD lM MxM MMx (erefl : nat_of_pos 10 = 10%N) (thousandths R _) second E).
Qed.
