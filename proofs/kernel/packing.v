(* The checker's product of two lists is their convolution. *)
From Coq Require Import NArith List Lia.
From kernel Require Import checker.
Local Open Scope N_scope.

(* The number with the digits s in base B; for B = 1, the sum. *)
Fixpoint value (B : N) (s : list N) : N := match s with nil => 0 | a :: t => a + B * value B t end.
Fixpoint add (s t : list N) : list N :=
  match s, t with nil, _ => t | _, nil => s | a :: u, b :: v => a + b :: add u v end.
Fixpoint convolve (s t : list N) : list N :=
  match s with nil => nil | a :: u => add (map (N.mul a) t) (0 :: convolve u t) end.

Lemma value_add B s t : value B (add s t) = value B s + value B t.
Proof. revert t; induction s as [|a s IH]; intros [|b t]; simpl; try lia; rewrite IH; lia. Qed.
Lemma value_scale B a t : value B (map (N.mul a) t) = a * value B t.
Proof. induction t as [|b t IH]; simpl; [lia|]; rewrite IH; lia. Qed.
Lemma value_convolve B s t : value B (convolve s t) = value B s * value B t.
Proof. induction s as [|a s IH]; simpl; [lia|]; rewrite value_add, value_scale; simpl; rewrite IH; lia. Qed.
Lemma sum_value s : sum s = value 1 s.
Proof. induction s as [|a s IH]; cbn [sum value]; [lia|]; rewrite IH; lia. Qed.
Lemma entry_le s i : nth i s 0 <= value 1 s.
Proof. revert i; induction s as [|a s IH]; intros [|i]; cbn [value nth]; try lia; specialize (IH i); lia. Qed.

(* Digits less than the base are determined by the number. *)
Lemma same_digits B s t : (forall i, nth i s 0 < B) -> (forall i, nth i t 0 < B) -> value B s = value B t ->
  forall i, nth i s 0 = nth i t 0.
Proof.
assert (none : forall t, value B t = 0 -> B <> 0 -> forall i, nth i t 0 = 0).
  { clear s t; intros t; induction t as [|b t IH]; intros e B0 [|i]; simpl in *; try lia; apply IH; nia. }
revert t; induction s as [|a s IH]; intros t hs ht e i.
  assert (B <> 0) by (specialize (hs O); simpl in hs; lia).
  rewrite (none t); trivial; now destruct i.
assert (a < B) by exact (hs O).
destruct t as [|b t]; [rewrite (none (a :: s)); trivial; [now destruct i|lia]|].
assert (b < B) by exact (ht O).
simpl in e; destruct (N.div_mod_unique B (value B s) (value B t) a b) as [es ->]; [lia..|].
destruct i as [|i]; simpl; trivial.
apply IH; trivial; intros k; [exact (hs (S k))|exact (ht (S k))].
Qed.

Definition base (d : nat) (w : N) : N := 2 ^ (N.shiftl w (N.of_nat d)).
Lemma base0 w : base 0 w = 2 ^ w. Proof. unfold base; now rewrite N.shiftl_0_r. Qed.
Lemma base_S d w : base (S d) w = base d w * base d w.
Proof.
unfold base; rewrite <- N.pow_add_r; f_equal; rewrite !N.shiftl_mul_pow2, Nat2N.inj_succ, N.pow_succ_r'; lia.
Qed.
Lemma base_pow d w : base d w = (2 ^ w) ^ (2 ^ N.of_nat d).
Proof. unfold base; now rewrite N.shiftl_mul_pow2, N.pow_mul_r. Qed.
Lemma base_pos d w : base d w <> 0. Proof. apply N.pow_nonzero; lia. Qed.

Lemma packed_value d w s : value (2 ^ w) s = fst (packed d w s) + base d w * value (2 ^ w) (snd (packed d w s)).
Proof.
revert s; induction d as [|d IH]; intros [|a s]; simpl packed; simpl fst; simpl snd; simpl value; try lia.
  rewrite base0; lia.
rewrite base_S, N.shiftl_mul_pow2; fold (base d w).
change (a + 2 ^ w * value (2 ^ w) s) with (value (2 ^ w) (a :: s)).
rewrite (IH (a :: s)) at 1; rewrite (IH (snd (packed d w (a :: s)))) at 1; lia.
Qed.

Lemma unpacked_value d w x after : value (2 ^ w) (unpacked d w x after) = x + base d w * value (2 ^ w) after.
Proof.
revert x after; induction d as [|d IH]; intros x after; simpl unpacked.
  simpl; now rewrite base0.
rewrite !IH, base_S, N.shiftl_mul_pow2, N.shiftr_div_pow2; fold (base d w).
assert (h := N.mul_div_le x (base d w) (base_pos d w)); revert h; generalize (x / base d w); intros q h.
lia.
Qed.

Lemma below_all B s : below B s = true -> B <> 0 -> forall i, nth i s 0 < B.
Proof.
intros h B0; induction s as [|a s IH]; intros [|i]; simpl in *; try lia.
  destruct (N.ltb_spec a B); [trivial|discriminate].
destruct (a <? B); [now apply IH|discriminate].
Qed.

Lemma product_entries s t i : nth i (product s t) 0 = nth i (convolve s t) 0 \/ product s t = nil.
Proof.
unfold product; set (w := N.size (sum s * sum t)); set (d := N.to_nat _); cbv zeta.
assert (hs := packed_value d w s); assert (ht := packed_value d w t).
destruct (snd (packed d w s)); [|now right]; destruct (snd (packed d w t)); [|now right].
destruct (below _ _) eqn:small; [left|now right].
rewrite N.shiftl_1_l in small; assert (w0 : 2 ^ w <> 0) by (apply N.pow_nonzero; lia).
apply (same_digits (2 ^ w)).
- exact (below_all _ _ small w0).
- intros k; apply N.le_lt_trans with (1 := entry_le _ k).
  rewrite value_convolve, <- !sum_value; apply N.size_gt.
- rewrite value_convolve, unpacked_value; simpl in *; rewrite hs, ht; lia.
Qed.

Lemma shifted_down x b : N.shiftr x b * 2 ^ b <= x.
Proof. rewrite N.shiftr_div_pow2, N.mul_comm; apply N.mul_div_le, N.pow_nonzero; lia. Qed.
Lemma shifted_up x b : x <= N.shiftr (x + (N.shiftl 1 b - 1)) b * 2 ^ b.
Proof.
assert (b0 : 2 ^ b <> 0) by (apply N.pow_nonzero; lia).
rewrite N.shiftr_div_pow2, N.shiftl_1_l.
assert (h := N.mul_succ_div_gt (x + (2 ^ b - 1)) (2 ^ b) b0); rewrite N.mul_succ_r in h.
revert h; generalize ((x + (2 ^ b - 1)) / 2 ^ b); intros q h; lia.
Qed.
