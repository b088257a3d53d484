// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Two nodes on QEMU's mps2-an386 over the C ABI.
 *
 *  context                   does
 *  thread (main)             submits, takes frames, lnd_run(): finalizes
 *  NVIC 28, completions      lnd_interrupt(): only decides
 *  NVIC 29, link failed      lnd_link_failed()
 *  NVIC 8, alarm             ends the thread's sleep
 *  SysTick                   is the hardware: one step of both engines
 */
#include "board.h"
#include "main.h"
#include "node.h"

#define PATIENCE 5000000000ULL
#define BURST 6U
#define PIECE (LARGEST / 8)

static const uint32_t sizes[] = { 1,   2,    3,	   63,	 64,   65,    511,   512,
				  513, 1000, 4095, 4096, 4097, 32768, 65535, 65536 };
static uint32_t number, arrivals, dead;

/* --- interrupts --- */

static volatile uint32_t failed_links; /* a bit for each node */

void on_completions(void)
{
	for (uint32_t at = 0; at < 2; at++) {
		uint32_t more = 0;

		nodes[at].interrupts++;
		lnd_interrupt(nodes[at].ni, 0, 32, board_now(), &more);
		if (more)
			board_raise(IRQ_COMPLETIONS);
	}
}

void on_link_failed(void)
{
	uint32_t failed = __atomic_exchange_n(&failed_links, 0, __ATOMIC_ACQ_REL);

	for (uint32_t at = 0; at < 2; at++)
		if (failed & 1U << at)
			lnd_link_failed(nodes[at].ni, 0);
}

uint32_t on_hardware(void)
{
	uint32_t done = hw_step(board_now());

	if (done & 3U)
		board_raise(IRQ_COMPLETIONS);
	return (done & HW_MORE) != 0;
}

/* --- the script --- */

/* Lets the nodes work until `done` returns true; 0, or `wrong` after a timeout. */
static const char *until(const char *wrong, int (*done)(void))
{
	uint64_t end = board_now() + PATIENCE;
	int quiet = 0;

	while (!done()) {
		uint64_t now = board_now(), next = end;

		if (now > end)
			return wrong;
		quiet++;
		for (uint32_t at = 0; at < 2; at++) {
			if (dead & 1U << at)
				continue;
			if (node_poll(&nodes[at], now))
				quiet = 0;
			if (nodes[at].next < next)
				next = nodes[at].next;
		}
		/* Each node has received all messages of the other. */
		if (quiet >= 2 && !done())
			board_sleep(next);
	}
	return NULL;
}

static int all_idle(void)
{
	return node_idle(&nodes[0]) && node_idle(&nodes[1]);
}

static int all_arrived(void)
{
	return all_idle() && nodes[0].ledger.arrived + nodes[1].ledger.arrived >= arrivals;
}

static int first_idle(void)
{
	return node_idle(&nodes[0]);
}

static int second_idle(void)
{
	return node_idle(&nodes[1]);
}

static int one_held(void)
{
	return nodes[1].held == 1;
}

static int two_held(void)
{
	return nodes[1].held == 2;
}

static int first_link_up(void)
{
	uint32_t state = 0;

	lnd_link_state_get(nodes[0].ni, 0, &state);
	return state == LND_LINK_UP;
}

static int first_quiescent(void)
{
	uint32_t state = 0;

	lnd_run_state_get(nodes[0].ni, &state);
	return state == LND_QUIESCENT;
}

static const char *start(uint32_t from, enum op op, uint32_t offset, uint32_t length)
{
	return node_start(&nodes[from], op, ++number, offset, length) ?
		       NULL : "a transfer was refused";
}

static const char *arrive(uint32_t more)
{
	arrivals += more;
	return until("a transfer did not end", all_arrived);
}

#define TRY(call)                          \
	do {                               \
		const char *wrong = (call); \
		if (wrong)                 \
			return wrong;      \
	} while (0)

static uint64_t counter(const struct node *node, const char *name)
{
	uint64_t value = 0;

	for (uint32_t at = 0; at < lnd_counter_count(); at++) {
		const char *a = lnd_counter_name(at), *b = name;

		while (*a && *a == *b)
			a++, b++;
		if (*a == *b)
			lnd_counter(node->ni, at, &value);
	}
	return value;
}

static const char *traffic(void)
{
	static const enum op ops[] = { PUT, GET };

	for (uint32_t op = 0; op < 2; op++)
		for (uint32_t at = 0; at < sizeof(sizes) / sizeof(sizes[0]); at++) {
			TRY(start(0, ops[op], 0, sizes[at]));
			TRY(start(1, ops[op], 0, sizes[at]));
			TRY(arrive(2));
		}
	return NULL;
}

static const char *burst(void)
{
	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t piece = 0; piece < BURST; piece++)
			TRY(start(piece % 2, (piece + round) % 2 ? GET : PUT, piece * PIECE,
				  PIECE - 16));
		TRY(arrive(BURST));
	}
	return NULL;
}

/* No deadline was needed so far: every completion arrived by itself. */
static const char *nothing_was_late(void)
{
	for (uint32_t at = 0; at < 2; at++)
		if (nodes[at].ledger.failed || counter(&nodes[at], "deadlines") ||
		    counter(&nodes[at], "links_failed") || counter(&nodes[at], "invalidated"))
			return "a completion was lost";
	return NULL;
}

/* Node 0 loses its link while its PUT waits for node 1's decision. */
static const char *link_failure(void)
{
	nodes[1].hold = 1;
	TRY(start(0, PUT, 0, LARGEST));
	TRY(until("the request did not arrive", one_held));
	platform_cable(0, 0);
	__atomic_fetch_or(&failed_links, 1U, __ATOMIC_ACQ_REL);
	board_raise(IRQ_LINK_FAILED);
	TRY(until("the PUT did not end with its link", first_idle));
	if (nodes[0].ledger.failed != 1 || nodes[0].ledger.cause != LND_CAUSE_LINK_DOWN)
		return "the PUT did not fail with its link";
	if (!counter(&nodes[0], "reclaimed") || !counter(&nodes[0], "asserted"))
		return "no descriptor was reclaimed";
	node_let_go(&nodes[1]);
	TRY(until("the pull from a dead link did not end", second_idle));
	platform_cable(0, 1);
	TRY(until("the link did not come back", first_link_up));
	TRY(start(0, PUT, 0, 1));
	TRY(start(1, GET, 0, 1));
	TRY(start(0, PUT, PIECE, LARGEST - PIECE));
	TRY(start(1, GET, PIECE, LARGEST - PIECE));
	return arrive(4);
}

/* Node 1 goes down while a PUT and a GET wait for its decisions. */
static const char *peer_death(void)
{
	uint32_t failed = nodes[0].ledger.failed;

	nodes[1].hold = 1;
	TRY(start(0, PUT, 0, LARGEST));
	TRY(start(0, GET, 0, LARGEST));
	TRY(until("the requests did not arrive", two_held));
	dead = 2;
	hw_kill(1);
	while (!hw_is_dead(1)) {
		board_clock_hardware();
		board_sleep(board_now() + 1000000);
	}
	lnd_peer_event(nodes[0].ni, 2, 0, board_now());
	TRY(until("what waited for the dead did not end", first_idle));
	if (nodes[0].ledger.failed != failed + 2)
		return "something was delivered to the dead";
	if (!start(0, PUT, 0, 1))
		return "a PUT to the dead was accepted";
	return NULL;
}

static const char *end(void)
{
	uint64_t now = board_now();

	lnd_shutdown(nodes[0].ni, now, now + 10000000);
	TRY(until("the shutdown did not end", first_quiescent));
	if (lnd_ni_destroy(nodes[0].ni) != LND_OK)
		return "something was left over";
	return NULL;
}

static void field(const char *name, uint64_t value)
{
	board_text(" ");
	board_text(name);
	board_text(" ");
	board_number(value);
}

static const char *balance(const struct node *node)
{
	const struct ledger *ledger = &node->ledger;

	board_text("ledger");
	field("node", node->number);
	field("accepted", ledger->accepted);
	field("ok", ledger->ok);
	field("failed", ledger->failed);
	field("open", node->open);
	field("refused", ledger->refused);
	field("arrived", ledger->arrived);
	field("corrupt", ledger->corrupt);
	field("violations", ledger->violations);
	field("interrupts", node->interrupts);
	board_text("\n");
	if (ledger->corrupt)
		return "a payload was corrupt";
	if (ledger->violations)
		return "something ended twice or made no sense";
	if (ledger->accepted !=
	    ledger->ok + ledger->failed + (dead & 1U << node->number ? node->open : 0))
		return "the ledger does not balance";
	return node->interrupts ? NULL : "no completion came by interrupt";
}

static const struct {
	const char *name;
	const char *(*tell)(void);
} chapters[] = {
	{ "creation", nodes_create },	{ "traffic", traffic },
	{ "burst", burst },		{ "in time", nothing_was_late },
	{ "link failure", link_failure }, { "peer death", peer_death },
	{ "shutdown", end },
};

int main(void)
{
	const char *wrong = NULL;

	board_init();
	board_text("lnd firmware thumbv7em\n");
	for (uint32_t at = 0; at < sizeof(chapters) / sizeof(chapters[0]) && !wrong; at++) {
		wrong = chapters[at].tell();
		if (!wrong) {
			board_text("done: ");
			board_text(chapters[at].name);
			board_text("\n");
		}
	}
	for (uint32_t at = 0; at < 2; at++) {
		const char *unbalanced = balance(&nodes[at]);

		wrong = wrong ? wrong : unbalanced;
	}
	if (wrong) {
		board_text("wrong: ");
		board_text(wrong);
		board_text("\n");
	}
	board_text("memory");
	field("ni", node_ni_bytes());
	field("ring", node_ring_bytes());
	board_text("\nstack");
	field("used", board_stack_used());
	field("of", board_stack_size());
	board_text("\n");
	return wrong != NULL;
}
