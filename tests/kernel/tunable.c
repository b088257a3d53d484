// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * tunable add NET INTERFACE WORD VALUE: adds an interface with a tunable of its driver's own.
 * tunable set WORD VALUE: sets one of all interfaces. LNet takes both by generic netlink; lnetctl
 * sends only the tunables that it knows. Ends with 0, or with LNet's errno.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What LNet has in its messages. */
enum { VERSION = 5, CMD_NETS = 2, LIST = 1, VALUE = 5, INT_VALUE = 6 };

static struct {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	char bytes[1024];
} message;

static int ask(int socket, int type, int flags, int command, int version)
{
	message.nl.nlmsg_type = type;
	message.nl.nlmsg_flags = NLM_F_REQUEST | flags;
	message.genl.cmd = command;
	message.genl.version = version;
	if (send(socket, &message, message.nl.nlmsg_len, 0) < 0 ||
	    recv(socket, &message, sizeof(message), 0) < 0)
		exit(255);
	return message.nl.nlmsg_type == NLMSG_ERROR ? -*(int *)&message.genl : 0;
}

static void begin(void)
{
	memset(&message, 0, sizeof(message));
	message.nl.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
}

static struct nlattr *add(int type, const void *data, int bytes)
{
	struct nlattr *attr = (void *)((char *)&message + message.nl.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + bytes;
	memcpy((char *)attr + NLA_HDRLEN, data, bytes);
	message.nl.nlmsg_len += NLA_ALIGN(attr->nla_len);
	return attr;
}

static void add_word(const char *word)
{
	add(VALUE, word, strlen(word) + 1);
}

static void end(struct nlattr *list)
{
	list->nla_len = (char *)&message + message.nl.nlmsg_len - (char *)list;
}

/* The number of LNet's family; 0: there is none. */
static int family(int socket)
{
	char *at = message.bytes;

	begin();
	add(CTRL_ATTR_FAMILY_NAME, "lnet", 5);
	if (ask(socket, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, 1))
		return 0;
	while (at < (char *)&message + message.nl.nlmsg_len) {
		struct nlattr *attr = (void *)at;

		if (attr->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(uint16_t *)(at + NLA_HDRLEN);
		at += NLA_ALIGN(attr->nla_len);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int adds = argc == 6 && !strcmp(argv[1], "add"), netlink, lnet;
	struct nlattr *all, *net, *interfaces, *one, *list;
	int64_t value;

	if (!adds && (argc != 4 || strcmp(argv[1], "set")))
		return 255;
	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	lnet = family(netlink);
	if (!lnet)
		return 255;
	begin();
	all = add(LIST, "", 0);
	net = add(LIST, "", 0);
	if (adds) {
		add_word("net type");
		add_word(argv[2]);
	}
	interfaces = add(LIST, "", 0);
	one = add(LIST, "", 0);
	if (adds) {
		add_word("interfaces");
		list = add(LIST, "", 0);
		add_word("0");
		add_word(argv[3]);
		end(list);
	}
	add_word("lnd tunables");
	list = add(LIST, "", 0);
	add_word(argv[argc - 2]);
	value = atoll(argv[argc - 1]);
	add(INT_VALUE, &value, sizeof(value));
	end(list);
	end(one);
	end(interfaces);
	end(net);
	end(all);
	return ask(netlink, lnet, NLM_F_ACK | (adds ? NLM_F_CREATE : NLM_F_REPLACE), CMD_NETS,
		   VERSION);
}
