/* SPDX-License-Identifier: MIT */
/*
 * insn: BPF instructions as text.
 *
 *	 8 bits  4    4    16 bits  32 bits
 *	┌──────┬────┬────┬────────┬──────────┐
 *	│ code │ dst│ src│ offset │ immediate│
 *	└──────┴────┴────┴────────┴──────────┘
 *	 dst is the lower half of its byte, so byte 0x12 is r2 from r1.
 *	 code & 7: class.  ALU and JMP: operation, and whether the second operand
 *	 is a register.  LD and ST: size, and how memory is reached.
 *
 * Source: Documentation/bpf/standardization/instruction-set.rst of the kernel.
 */
#include "sys/insn.h"

static const char *size_of(const struct bpf_insn *insn)
{
	switch (BPF_SIZE(insn->code)) {
	case BPF_W:
		return "u32";
	case BPF_H:
		return "u16";
	case BPF_B:
		return "u8";
	default:
		return "u64";
	}
}

/* The operand at the right: a register or a number. */
static void source(struct text *text, const struct bpf_insn *insn, char kind)
{
	if (BPF_SRC(insn->code) == BPF_X)
		text_format(text, "%c%u", kind, insn->src_reg);
	else
		text_format(text, "%d", insn->imm);
}

/* w0 to w10 are the lower halves of r0 to r10. */
static void arithmetic(struct text *text, const struct bpf_insn *insn)
{
	static const char *const operators[16] = {
		"+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=", "", "%=",
		"^=", "=", "s>>=",
	};
	char kind = BPF_CLASS(insn->code) == BPF_ALU64 ? 'r' : 'w';

	switch (BPF_OP(insn->code)) {
	case BPF_NEG:
		text_format(text, "%c%u = -%c%u", kind, insn->dst_reg, kind,
			    insn->dst_reg);
		break;
	case BPF_END:
		text_format(text, "r%u = %s%d r%u", insn->dst_reg,
			    BPF_SRC(insn->code) == BPF_TO_BE ? "be" : "le",
			    insn->imm, insn->dst_reg);
		break;
	default:
		text_format(text, "%c%u %s ", kind, insn->dst_reg,
			    operators[BPF_OP(insn->code) >> 4] ?
			    operators[BPF_OP(insn->code) >> 4] : "?");
		source(text, insn, kind);
		break;
	}
}

/* Helpers are called by number; the header knows the names. */
static void helper(struct text *text, uint32_t number)
{
#define NAME(name) #name
	static const char *const names[] = { __BPF_FUNC_MAPPER(NAME) };
#undef NAME

	if (number < sizeof(names) / sizeof(*names))
		text_format(text, "call %s#%u", names[number], number);
	else
		text_format(text, "call #%u", number);
}

static void jump(struct text *text, const struct bpf_insn *insn)
{
	static const char *const operators[16] = {
		"", "==", ">", ">=", "&", "!=", "s>", "s>=", "", "", "<",
		"<=", "s<", "s<=",
	};
	const char *operator = operators[BPF_OP(insn->code) >> 4];
	char kind = BPF_CLASS(insn->code) == BPF_JMP ? 'r' : 'w';

	switch (BPF_OP(insn->code)) {
	case BPF_JA:
		text_format(text, "goto pc%+d", insn->off);
		break;
	case BPF_CALL:
		helper(text, (uint32_t)insn->imm);
		break;
	case BPF_EXIT:
		text_format(text, "exit");
		break;
	default:
		text_format(text, "if %c%u %s ", kind, insn->dst_reg,
			    operator ? operator : "?");
		source(text, insn, kind);
		text_format(text, " goto pc%+d", insn->off);
		break;
	}
}

bool insn_is_wide(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_DW | BPF_IMM);
}

static void load_wide(struct text *text, const struct bpf_insn *insn)
{
	uint64_t value = (uint32_t)insn[0].imm |
			 (uint64_t)(uint32_t)insn[1].imm << 32;

	if (insn->src_reg == BPF_PSEUDO_MAP_FD)
		text_format(text, "r%u = map[fd:%d]", insn->dst_reg, insn->imm);
	else if (insn->src_reg == BPF_PSEUDO_MAP_VALUE)
		text_format(text, "r%u = map[fd:%d][0] + %d", insn->dst_reg,
			    insn->imm, insn[1].imm);
	else
		text_format(text, "r%u = %#llx ll", insn->dst_reg,
			    (unsigned long long)value);
}

void insn_text(struct text *text, const struct bpf_insn *insn)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		arithmetic(text, insn);
		break;
	case BPF_JMP:
	case BPF_JMP32:
		jump(text, insn);
		break;
	case BPF_LDX:
		text_format(text, "r%u = *(%s *)(r%u %+d)", insn->dst_reg,
			    size_of(insn), insn->src_reg, insn->off);
		break;
	case BPF_ST:
		text_format(text, "*(%s *)(r%u %+d) = %d", size_of(insn),
			    insn->dst_reg, insn->off, insn->imm);
		break;
	case BPF_STX:
		if (BPF_MODE(insn->code) == BPF_ATOMIC)
			text_format(text, "lock ");
		text_format(text, "*(%s *)(r%u %+d) %s r%u", size_of(insn),
			    insn->dst_reg, insn->off,
			    BPF_MODE(insn->code) == BPF_ATOMIC ? "+=" : "=",
			    insn->src_reg);
		break;
	default:
		if (insn_is_wide(insn))
			load_wide(text, insn);
		else
			text_format(text, "code %#x", insn->code);
		break;
	}
}
