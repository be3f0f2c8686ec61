(* The checker of kernel certificates with machine integers: it gives the answers of checker.v, and is faster. *)
From Coq Require Import NArith ZArith List.
From Bignums Require Import BigN.
From kernel Require checker.
Local Open Scope N_scope.

Definition shiftl (x : BigN.t) (k : N) : BigN.t := BigN.shiftl x (BigN.of_N k).
Definition shiftr (x : BigN.t) (k : N) : BigN.t := BigN.shiftr x (BigN.of_N k).
Fixpoint packed (d : nat) (w : N) (s : list N) : BigN.t * list N :=
  match d, s with
  | _, nil => (BigN.zero, nil)
  | O, a :: t => (BigN.of_N a, t)
  | S e, _ => let x := packed e w s in let y := packed e w (snd x) in
    (BigN.add (fst x) (shiftl (fst y) (N.shiftl w (N.of_nat e))), snd y)
  end.
Fixpoint unpacked (d : nat) (w : N) (x : BigN.t) (after : list N) : list N :=
  match d with
  | O => BigN.to_N x :: after
  | S e => let v := N.shiftl w (N.of_nat e) in let y := shiftr x v in
    unpacked e w (BigN.sub x (shiftl y v)) (unpacked e w y after)
  end.
Definition product (s t : list N) : list N :=
  let w := N.size (checker.sum s * checker.sum t) in
  let d := N.to_nat (N.size (N.of_nat (length s + length t))) in
  let x := packed d w s in let y := packed d w t in
  match snd x, snd y with
  | nil, nil => let r := unpacked d w (BigN.mul (fst x) (fst y)) nil in
    if checker.below (N.shiftl 1 w) r then r else nil
  | _, _ => nil
  end.
Definition convolution (b : N) (x y : checker.measure) : checker.measure :=
  let r := map (fun c => N.shiftr c b) (product (snd x) (snd y)) in
  checker.without_first_zeros (fst x + fst y) (checker.without_last_zeros r).
Definition composed (b : N) (kinds : list checker.kind) : checker.measure :=
  fold_right (fun k x => convolution b (checker.power (convolution b) (0, checker.masses k) (checker.count k)) x)
    (0, N.shiftl 1 b :: nil) kinds.
Definition bound (b : N) (a z : checker.binary) (kinds : list checker.kind) (x : checker.measure) : N :=
  let y := checker.ratio_at a z kinds (fst x) in
  checker.weighted z (snd x) (N.shiftr (N.shiftl (fst y) (snd z)) (snd y)) +
  N.shiftl (checker.infinite_mass kinds + (checker.total_mass b kinds - checker.sum (snd x))) (snd z).
Definition accepted (b : N) (a z : checker.binary) (kinds : list checker.kind) (d : checker.binary) : bool :=
  N.shiftl (bound b a z kinds (composed b kinds)) (snd d) <=? N.shiftl (fst d) (b + snd z).

Lemma value x : Z.of_N (BigN.to_N x) = BigN.to_Z x.
Proof. unfold BigN.to_N. apply Z2N.id. apply BigN.spec_pos. Qed.
Lemma of_to n : BigN.to_N (BigN.of_N n) = n.
Proof. apply N2Z.inj. rewrite value. apply BigN.spec_of_N. Qed.
Lemma to_add x y : BigN.to_N (BigN.add x y) = BigN.to_N x + BigN.to_N y.
Proof. apply N2Z.inj. rewrite N2Z.inj_add, !value. apply BigN.spec_add. Qed.
Lemma to_mul x y : BigN.to_N (BigN.mul x y) = BigN.to_N x * BigN.to_N y.
Proof. apply N2Z.inj. rewrite N2Z.inj_mul, !value. apply BigN.spec_mul. Qed.
Lemma to_sub x y : BigN.to_N (BigN.sub x y) = BigN.to_N x - BigN.to_N y.
Proof. apply N2Z.inj. rewrite N2Z.inj_sub_max, !value. apply BigN.spec_sub. Qed.
Lemma to_shiftl x k : BigN.to_N (shiftl x k) = N.shiftl (BigN.to_N x) k.
Proof.
apply N2Z.inj. unfold shiftl. rewrite value, BigN.spec_shiftl, BigN.spec_of_N, N.shiftl_mul_pow2, N2Z.inj_mul.
rewrite N2Z.inj_pow, value. apply Z.shiftl_mul_pow2. apply N2Z.is_nonneg.
Qed.
Lemma to_shiftr x k : BigN.to_N (shiftr x k) = N.shiftr (BigN.to_N x) k.
Proof.
apply N2Z.inj. unfold shiftr. rewrite value, BigN.spec_shiftr, BigN.spec_of_N, N.shiftr_div_pow2, N2Z.inj_div.
rewrite N2Z.inj_pow, value. apply Z.shiftr_div_pow2. apply N2Z.is_nonneg.
Qed.

Lemma same_packed d w s : BigN.to_N (fst (packed d w s)) = fst (checker.packed d w s) /\
  snd (packed d w s) = snd (checker.packed d w s).
Proof.
revert s. induction d as [|d IH]; intros [|a s]; try (split; reflexivity).
- split; [apply of_to | reflexivity].
- destruct (IH (a :: s)) as [e f]. cbn -[shiftl N.shiftl N.of_nat].
  destruct (IH (snd (packed d w (a :: s)))) as [g h]. rewrite to_add, to_shiftl, e, g, h, f. split; reflexivity.
Qed.
Lemma same_unpacked d w x after : unpacked d w x after = checker.unpacked d w (BigN.to_N x) after.
Proof.
revert x after. induction d as [|d IH]; intros x after; [reflexivity|].
cbn -[shiftl shiftr N.shiftl N.shiftr N.of_nat]. rewrite !IH, to_sub, to_shiftl, to_shiftr. reflexivity.
Qed.
Lemma same_product s t : product s t = checker.product s t.
Proof.
unfold product, checker.product; cbv zeta. set (w := N.size (checker.sum s * checker.sum t)).
set (d := N.to_nat (N.size (N.of_nat (length s + length t)))).
destruct (same_packed d w s) as [e f]. destruct (same_packed d w t) as [g h].
rewrite f, h, same_unpacked, to_mul, e, g. reflexivity.
Qed.
Lemma same_convolution b x y : convolution b x y = checker.convolution b x y.
Proof. unfold convolution, checker.convolution. rewrite same_product. reflexivity. Qed.
Lemma same_power (T : Type) (f g : T -> T -> T) x n : (forall y z, f y z = g y z) ->
  checker.power f x n = checker.power g x n.
Proof. intros h. induction n as [n IH|n IH|]; cbn; rewrite ?IH, ?h; reflexivity. Qed.
Lemma same_composed b kinds : composed b kinds = checker.composed b kinds.
Proof.
induction kinds as [|k kinds IH]; [reflexivity|].
change (composed b (k :: kinds)) with
  (convolution b (checker.power (convolution b) (0, checker.masses k) (checker.count k)) (composed b kinds)).
rewrite IH, same_convolution, (same_power _ _ _ _ _ (same_convolution b)). reflexivity.
Qed.
Lemma same_answer b a z kinds d : accepted b a z kinds d = true -> checker.accepted b a z kinds d = true.
Proof. unfold accepted. rewrite same_composed. exact (fun h => h). Qed.
