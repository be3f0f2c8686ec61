(* How the branches of a truncated Poisson sample change with the number of records. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From kernel Require Import statements profiles sampling batches truncation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Sizes.
Variable R : realFieldType.

(* Chebyshev's sum inequality for two measures, of which u/v falls, and a function that falls. *)
Lemma chebyshev n (a : pred nat) (u v f : nat -> R) :
  (forall i j, (i <= j)%N -> f j <= f i) -> (forall i j, (i <= j)%N -> u j * v i <= u i * v j) ->
  (\sum_(i < n | a i) u i) * (\sum_(j < n | a j) v j * f j) <=
  (\sum_(i < n | a i) u i * f i) * (\sum_(j < n | a j) v j).
Proof.
move=> falls ratio.
pose X := \sum_(i < n | a i) \sum_(j < n | a j) u i * v j * (f i - f j).
have eX : X = (\sum_(i < n | a i) u i * f i) * (\sum_(j < n | a j) v j)
    - (\sum_(i < n | a i) u i) * (\sum_(j < n | a j) v j * f j).
  rewrite !mulr_suml -sumrB; apply: eq_bigr => i _; rewrite !mulr_sumr -sumrB; apply: eq_bigr => j _; ring.
rewrite -subr_ge0 -eX.
have twice : X + X = \sum_(i < n | a i) \sum_(j < n | a j) (u i * v j - u j * v i) * (f i - f j).
  rewrite {2}/X exchange_big /= -big_split; apply: eq_bigr => i _; rewrite -big_split; apply: eq_bigr => j _ /=; ring.
have : 0 <= X + X.
  rewrite twice; apply: sumr_ge0 => i _; apply: sumr_ge0 => j _.
  have [ij|/ltnW ji] := leqP i j; first by rewrite mulr_ge0 // subr_ge0; [exact: ratio | exact: falls].
  by rewrite mulr_le0 // subr_le0; [exact: ratio | exact: falls].
by rewrite -mulr2n pmulrn_lge0.
Qed.

Variables (I : finType) (q : R) (c : nat).
Hypotheses (q0 : 0 <= q) (q1 : q <= 1).
Local Notation b := c.+1.
Implicit Types (D E : {set I}) (x : I).

(* The average of a function of the number of records that are drawn. *)
Definition drawn_average D (F : nat -> R) : R := \sum_(S : {set I} | S \subset D) coins q D S * F #|S|.
Definition kept (j : nat) : R := q * b%:R / j.+1%:R.
Lemma fullE D : full q b D = drawn_average D (fun j => if (b <= j)%N then 1 else 0).
Proof.
rewrite /full /drawn_average big_mkcondr; apply: eq_bigr => S _.
by case: ifP; rewrite ?mulr1 ?mulr0.
Qed.
Lemma full_withE D : full_with q b D = drawn_average D (fun j => if (b <= j)%N then kept j else 0).
Proof.
rewrite /full_with /drawn_average big_mkcondr; apply: eq_bigr => S _.
by case: ifP; rewrite ?mulr0.
Qed.
Lemma drawn_one_more D x F : x \notin D ->
  drawn_average (x |: D) F = (1 - q) * drawn_average D F + q * drawn_average D (fun j => F j.+1).
Proof.
move=> xD; rewrite /drawn_average split_subsets // !mulr_sumr -big_split; apply: eq_bigr => S sub /=.
by rewrite coins_out // coins_in // cardsU1 (subset_notin xD sub) add1n; ring.
Qed.

Section One.
Variable D : {set I}.
Local Notation m := #|D|.
Definition weight (j : nat) : R := 'C(m, j)%:R * (q ^+ j * (1 - q) ^+ (m - j)).
Lemma weight_ge0 j : 0 <= weight j.
Proof. by rewrite !mulr_ge0 ?exprn_ge0 ?ler0n ?subr_ge0. Qed.
Lemma weight_beyond j : (m < j)%N -> weight j = 0.
Proof. by move=> h; rewrite /weight bin_small // mulr0n mul0r. Qed.
Lemma drawn_weights F : drawn_average D F = \sum_(j < m.+1) weight j * F j.
Proof.
rewrite /drawn_average (eq_bigr (fun S : {set I} => q ^+ #|S| * (1 - q) ^+ (m - #|S|) * F #|S|)) => [|S sub].
  rewrite (sum_of_sizes D (fun j => q ^+ j * (1 - q) ^+ (m - j) * F j)).
  by apply: eq_bigr => j _; rewrite /weight !mulrA.
by rewrite coins_of_size.
Qed.
Lemma at_least_c F : drawn_average D (fun j => if (c <= j)%N then F j else 0) =
  \sum_(j < m.+1 | (c <= j)%N) weight j * F j.
Proof. by rewrite drawn_weights [RHS]big_mkcond; apply: eq_bigr => j _; case: ifP; rewrite ?mulr0. Qed.
Lemma at_least_b F : drawn_average D (fun j => if (b <= j)%N then F j else 0) =
  \sum_(j < m.+1 | (c <= j)%N) weight j.+1 * F j.+1.
Proof.
pose G j := weight j * (if (b <= j)%N then F j else 0).
have -> : drawn_average D (fun j => if (b <= j)%N then F j else 0) = \sum_(j < m.+2) G j.
  have g0 : G m.+1 = 0 by rewrite /G weight_beyond ?mul0r.
  by rewrite drawn_weights [RHS]big_ord_recr /= g0 addr0.
rewrite big_ord_recl {1}/G ltn0 mulr0 add0r [RHS]big_mkcond; apply: eq_bigr => j _.
by rewrite /G lift0 ltnS; case: ifP; rewrite ?mulr0.
Qed.

Lemma weight_ratio i j : (i <= j)%N -> weight j.+1 * weight i <= weight i.+1 * weight j.
Proof.
move=> ij; have [jm|mj] := ltnP j m; last first.
  by rewrite weight_beyond // mul0r mulr_ge0 ?weight_ge0.
have im := leq_ltn_trans ij jm.
pose x : R := q ^+ j.+1 * (1 - q) ^+ (m - j.+1) * (q ^+ i * (1 - q) ^+ (m - i)).
have x0 : 0 <= x by rewrite !mulr_ge0 ?exprn_ge0 ?subr_ge0.
have ex : q ^+ i.+1 * (1 - q) ^+ (m - i.+1) * (q ^+ j * (1 - q) ^+ (m - j)) = x.
  rewrite /x -(subnSK jm) -(subnSK im) !exprS; ring.
rewrite /weight (_ : _ * _ = 'C(m, j.+1)%:R * 'C(m, i)%:R * x); last by rewrite /x; ring.
rewrite (_ : _ * _ * (_ * _) = 'C(m, i.+1)%:R * 'C(m, j)%:R * x); last by rewrite -ex; ring.
rewrite ler_wpmul2r // -!natrM ler_nat.
rewrite -(@leq_pmul2l (j.+1 * i.+1)) // [X in (X <= _)%N]mulnACA mul_bin_left.
rewrite [(j.+1 * i.+1)%N]mulnC [X in (_ <= X)%N]mulnACA mul_bin_left.
rewrite [X in (X <= _)%N]mulnACA [X in (_ <= X)%N]mulnACA [('C(m, j) * _)%N]mulnC leq_mul2r; apply/orP; right.
by apply: leq_mul; rewrite ?leq_sub2l.
Qed.
End One.

Lemma full_one_more D x : x \notin D ->
  full q b (x |: D) = (1 - q) * full q b D + q * \sum_(j < #|D|.+1 | (c <= j)%N) weight D j.
Proof.
move=> xD; rewrite fullE drawn_one_more // -fullE; congr (_ + _ * _).
rewrite (_ : drawn_average D _ = drawn_average D (fun j => if (c <= j)%N then 1 else 0)) //.
by rewrite at_least_c; apply: eq_bigr => j _; rewrite mulr1.
Qed.
Lemma full_with_one_more D x : x \notin D ->
  full_with q b (x |: D) =
  (1 - q) * full_with q b D + q * \sum_(j < #|D|.+1 | (c <= j)%N) weight D j * kept j.+1.
Proof.
move=> xD; rewrite full_withE drawn_one_more // -full_withE; congr (_ + _ * _).
exact: (at_least_c D (fun j => kept j.+1)).
Qed.
Lemma one_grows D x : x \notin D -> full q b D <= full q b (x |: D).
Proof.
move=> xD; rewrite full_one_more // -subr_ge0.
rewrite (_ : _ - _ = q * (\sum_(j < #|D|.+1 | (c <= j)%N) weight D j - full q b D)); last by ring.
rewrite mulr_ge0 // subr_ge0 fullE drawn_weights [X in _ <= X]big_mkcond; apply: ler_sum => j _.
have [bj|_] := leqP b j; first by rewrite (ltnW bj) mulr1.
by rewrite mulr0; case: ifP => // _; exact: weight_ge0.
Qed.
Lemma kept_falling i j : (i <= j)%N -> kept j.+1 <= kept i.+1.
Proof.
move=> ij; rewrite /kept ler_wpmul2l ?mulr_ge0 ?ler0n // lef_pinv ?posrE ?ltr0Sn // ler_nat.
by rewrite !ltnS.
Qed.
Lemma one_falls D x : x \notin D -> full_with q b (x |: D) * full q b D <= full_with q b D * full q b (x |: D).
Proof.
move=> xD; rewrite full_one_more // full_with_one_more //.
pose s := \sum_(j < #|D|.+1 | (c <= j)%N) weight D j.
pose n := \sum_(j < #|D|.+1 | (c <= j)%N) weight D j * kept j.+1.
rewrite -/s -/n.
suff le : full q b D * n <= full_with q b D * s.
  rewrite -subr_ge0 (_ : _ - _ = q * (full_with q b D * s - full q b D * n)); last by ring.
  by rewrite mulr_ge0 // subr_ge0.
rewrite fullE full_withE !at_least_b.
under [X in X * _ <= _]eq_bigr do rewrite mulr1.
rewrite /n /s.
apply: (@chebyshev #|D|.+1 (leq c) (fun j => weight D j.+1) (weight D) (fun j => kept j.+1)) => i j.
  exact: kept_falling.
exact: weight_ratio.
Qed.

Lemma both_monotone D E : D \subset E ->
  full q b D <= full q b E /\ full_with q b E * full q b D <= full_with q b D * full q b E.
Proof.
move=> sub; have [n le] := ubnP #|E :\: D|; elim: n E sub le => // n IH E sub le.
have [e|[x]] := set_0Vmem (E :\: D).
  by have -> : E = D by apply/eqP; rewrite eqEsubset sub andbT -setD_eq0 e.
rewrite inE => /andP [xD xE].
have sub' : D \subset E :\ x by rewrite subsetD1 sub.
have card : (#|(E :\ x) :\: D| < n)%N.
  have : (E :\ x) :\: D \proper E :\: D.
    rewrite properE setSD ?subD1set //=; apply/subsetPn; exists x; rewrite !inE ?xD ?xE ?eqxx ?andbF //.
  by move/proper_card; move: le; rewrite ltnS => h1 h2; apply: leq_trans h2 h1.
have [grows falls] := IH (E :\ x) sub' card.
have xN : x \notin E :\ x by rewrite setD11.
have := one_grows xN; have := one_falls xN; rewrite setD1K // => falls1 grows1.
split; first exact: le_trans grows grows1.
have [t0 tE0] := (full_ge0 c D q0 q1, full_ge0 c (E :\ x) q0 q1).
have [mD0 _] := full_with_bounds c D q0 q1.
move: tE0; rewrite le_eqVlt => /orP [/eqP z|t_gt0].
  have -> : full q b D = 0 by apply/eqP; rewrite eq_le t0 andbT z.
  by rewrite mulr0 mulr_ge0 // full_ge0.
rewrite -(ler_pmul2r t_gt0) mulrAC; apply: (le_trans (ler_wpmul2r t0 falls1)).
by rewrite mulrAC [X in _ <= X]mulrAC ler_wpmul2r ?full_ge0.
Qed.
End Sizes.

Theorem full_grows (R : realFieldType) : Full_grows R.
Proof. by move=> I q [|c] D E q0 q1 // _ sub; have [grows _] := both_monotone c q0 q1 sub. Qed.
Theorem kept_falls (R : realFieldType) : Kept_falls R.
Proof. by move=> I q [|c] D E q0 q1 // _ sub; have [_ falls] := both_monotone c q0 q1 sub. Qed.
