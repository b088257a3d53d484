/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the file "verbs" counts. */
#ifndef LND_VERBS_COUNTS_H
#define LND_VERBS_COUNTS_H

enum lnd_verbs_count {
	LND_VERBS_OPENED,	/* connections */
	LND_VERBS_ASKED,	/* attempts of ours */
	LND_VERBS_GAVE_UP,	/* attempts of either end, without success */
	LND_VERBS_REFUSED,	/* requests of peers that we have rejected */
	LND_VERBS_STRANGERS,	/* of these, by nodes or versions unknown here, or as we leave */
	LND_VERBS_NO_ROOM,	/* nodes for which there was no place or no memory, of either end */
	LND_VERBS_YIELDED,	/* attempts of ours, given up for the peer's */
	LND_VERBS_CLOSINGS,
	LND_VERBS_SENDS,
	LND_VERBS_INLINED,	/* of these and of notes, with their bytes in the work request */
	LND_VERBS_RECEIVES,
	LND_VERBS_NOTES_SENT,
	LND_VERBS_FED,	/* times that the library was told of room, after it had found none */
	LND_VERBS_NOT_READY,	/* SENDs that found no receive: never */
	LND_VERBS_READ_COUNT,
	LND_VERBS_WRITE_COUNT,
	LND_VERBS_POSTS,	/* work that was posted: calls, each with one or more requests */
	LND_VERBS_REGISTERED,	/* regions */
	LND_VERBS_CHAINED,	/* of these, in front of the frame with the key */
	LND_VERBS_INVALIDATED,	/* regions, by ourselves */
	LND_VERBS_INVALIDATED_BY_PEER,	/* regions, with the frame that ended the pull or push */
	LND_VERBS_OTHER_KEY,	/* frames that have invalidated no region in use */
	LND_VERBS_NO_REGION,
	LND_VERBS_INDEXED,	/* descriptors of several segments, staged or exposed */
	LND_VERBS_BOUNCED,	/* descriptors that were copied, because they had too many gaps */
	LND_VERBS_OTHER_COOKIE,	/* pulls and pushes by a key of a former connection */
	LND_VERBS_EARLY,	/* descriptors that were posted before their connection was open */
	LND_VERBS_PROBES,	/* READs of no bytes on idle connections */
	LND_VERBS_SILENCES,	/* connections that ended because nothing was acknowledged */
	LND_VERBS_FLUSHED,
	LND_VERBS_ERRORS,	/* other completions than these that are no success */
	LND_VERBS_WATCHED,	/* payloads that were poisoned after their report */
	LND_VERBS_TOUCHED,	/* of these, changed afterwards: never */
	LND_VERBS_COUNTS
};

#endif
