// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * resolve OBJECT.o: resolves known relocations. A call within one code section is the same wherever
 * the section is loaded, yet `ld -r` leaves it to the module loader as a relocation, which takes 24
 * bytes of file. Runs on the build machine.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *image;
static size_t bytes;

static void die(const char *why)
{
	fprintf(stderr, "resolve: %s\n", why);
	exit(1);
}

/* A table of @size bytes at @offset of the file. */
static void *at(Elf64_Off offset, Elf64_Xword size)
{
	if (offset > bytes || size > bytes - offset)
		die("not a whole object");
	return image + offset;
}

/* Writes the value of a relocation, if it is known; 0: the loader resolves it. */
static int known(const Elf64_Rela *rela, const Elf64_Sym *symbol, unsigned int section,
		 const Elf64_Shdr *code)
{
	unsigned int type = ELF64_R_TYPE(rela->r_info);
	Elf64_Sxword value = symbol->st_value + rela->r_addend - rela->r_offset;
	Elf32_Sword word = value;

	if ((type != R_X86_64_PC32 && type != R_X86_64_PLT32) || symbol->st_shndx != section ||
	    ELF64_ST_BIND(symbol->st_info) == STB_WEAK || word != value)
		return 0;
	if (rela->r_offset > code->sh_size || code->sh_size - rela->r_offset < sizeof(word))
		die("a relocation outside its section");
	memcpy(at(code->sh_offset + rela->r_offset, sizeof(word)), &word, sizeof(word));
	return 1;
}

static void resolve(Elf64_Shdr *sections, unsigned int count, Elf64_Shdr *table)
{
	Elf64_Rela *rela = at(table->sh_offset, table->sh_size), *keep = rela;
	size_t n = table->sh_size / sizeof(*rela);
	const Elf64_Shdr *code, *symbols;
	const Elf64_Sym *symbol;

	if (table->sh_info >= count || table->sh_link >= count)
		die("no such section");
	code = &sections[table->sh_info];
	symbols = &sections[table->sh_link];
	symbol = at(symbols->sh_offset, symbols->sh_size);
	if (!(code->sh_flags & SHF_EXECINSTR))
		return;
	for (; n; n--, rela++) {
		if (ELF64_R_SYM(rela->r_info) >= symbols->sh_size / sizeof(*symbol))
			die("no such symbol");
		if (!known(rela, &symbol[ELF64_R_SYM(rela->r_info)], table->sh_info, code))
			*keep++ = *rela;
	}
	table->sh_size = (unsigned char *)keep - (image + table->sh_offset);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "r+b") : NULL;
	Elf64_Shdr *sections;
	Elf64_Ehdr *head;
	unsigned int i;

	if (!file || fseek(file, 0, SEEK_END))
		die("resolve OBJECT.o");
	bytes = ftell(file);
	image = malloc(bytes);
	rewind(file);
	if (!image || fread(image, 1, bytes, file) != bytes)
		die("cannot be read");
	head = at(0, sizeof(*head));
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_type != ET_REL || head->e_machine != EM_X86_64)
		die("not an x86-64 object");
	sections = at(head->e_shoff, (Elf64_Xword)head->e_shnum * sizeof(*sections));
	for (i = 0; i < head->e_shnum; i++) {
		if (sections[i].sh_type == SHT_RELA)
			resolve(sections, head->e_shnum, &sections[i]);
	}
	rewind(file);
	if (fwrite(image, 1, bytes, file) != bytes || fclose(file))
		die("cannot be written");
	return 0;
}
