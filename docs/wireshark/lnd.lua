-- SPDX-License-Identifier: MIT OR GPL-2.0-only
--
-- Wireshark dissector for the short messages of this LND: docs/wire-format.md, version 1.
--
--   wireshark -X lua_script:docs/wireshark/lnd.lua run.pcapng
--   tshark    -X lua_script:docs/wireshark/lnd.lua -r run.pcapng -V
--
-- Captures have link type USER0 and a head of 24 bytes before each frame, which says what only the
-- channel knows (docs/wireshark/README.md). A frame that the library's decoder refuses is shown as
-- far as it can be read, with the decoder's reason in lnd.error and as an expert info.
-- Lua 5.2 to 5.4.

local lnd = Proto("lnd", "Lustre Network Driver")

local HEAD = 24
local MAX_FRAME = 65536
local MAX_HEADER = 96
local MAX_KEY = 32

local CONTROL, LND, SHORT_CONTROL, SHORT_LND = 0x01, 0x02, 0x11, 0x12
local HELLO, HELLO_ACK, IMMEDIATE, PUT_REQ, PUT_NAK, PUT_DONE = 1, 2, 3, 4, 5, 6
local GET_REQ, GET_NAK, NOOP, CLOSE, CANCEL_PUT, CANCEL_GET = 7, 8, 9, 10, 11, 12
local GET_DONE, CANCEL_PUSH = 13, 14
local PULL_READY = 1

local classes = {
    [CONTROL] = "control",
    [LND] = "LND",
    [SHORT_CONTROL] = "control, short head",
    [SHORT_LND] = "LND, short head",
}
local kinds = {
    [HELLO] = "HELLO",
    [HELLO_ACK] = "HELLO_ACK",
    [IMMEDIATE] = "IMMEDIATE",
    [PUT_REQ] = "PUT_REQ",
    [PUT_NAK] = "PUT_NAK",
    [PUT_DONE] = "PUT_DONE",
    [GET_REQ] = "GET_REQ",
    [GET_NAK] = "GET_NAK",
    [NOOP] = "NOOP",
    [CLOSE] = "CLOSE",
    [CANCEL_PUT] = "CANCEL_PUT",
    [CANCEL_GET] = "CANCEL_GET",
    [GET_DONE] = "GET_DONE",
    [CANCEL_PUSH] = "CANCEL_PUSH",
}
local refusals = {
    [0] = "none",
    [1] = "no match",
    [2] = "no resources",
    [3] = "shutting down",
    [4] = "bad request",
    [5] = "failed",
}
local lanes = { [0] = "request", [1] = "control" }

local f = {
    -- The capture's head.
    head = ProtoField.none("lnd.capture", "Channel"),
    head_version = ProtoField.uint8("lnd.capture.version", "Version of the capture's head"),
    lane = ProtoField.uint8("lnd.lane", "Lane", base.DEC, lanes),
    link = ProtoField.uint8("lnd.link", "Link"),
    checksums = ProtoField.bool("lnd.channel.checksums", "Checksums", 8, nil, 0x01),
    short_heads = ProtoField.bool("lnd.channel.short_heads", "Short heads", 8, nil, 0x02),
    source = ProtoField.uint64("lnd.source", "Source", base.HEX),
    destination = ProtoField.uint64("lnd.destination", "Destination", base.HEX),
    -- Prefix and envelope.
    class = ProtoField.uint8("lnd.class", "Class", base.HEX, classes),
    kind = ProtoField.uint8("lnd.kind", "Kind"),
    message = ProtoField.string("lnd.message", "Message"),
    version = ProtoField.uint8("lnd.version", "Version"),
    flags = ProtoField.uint8("lnd.flags", "Flags", base.HEX),
    magic = ProtoField.bytes("lnd.magic", "Magic"),
    order = ProtoField.string("lnd.order", "Byte order"),
    length = ProtoField.uint32("lnd.length", "Length of the frame"),
    checksum = ProtoField.uint32("lnd.checksum", "Checksum", base.HEX),
    checksum_status = ProtoField.string("lnd.checksum.status", "Checksum status"),
    from = ProtoField.uint64("lnd.from", "From", base.HEX),
    to = ProtoField.uint64("lnd.to", "To", base.HEX),
    from_incarnation = ProtoField.uint64("lnd.from_incarnation", "Sender's incarnation", base.HEX),
    to_incarnation = ProtoField.uint64("lnd.to_incarnation", "Receiver's incarnation", base.HEX),
    session = ProtoField.uint32("lnd.session", "Session"),
    sequence = ProtoField.uint32("lnd.sequence", "Sequence"),
    credits = ProtoField.uint16("lnd.credits", "Requests consumed"),
    credits_of = ProtoField.uint32("lnd.credits_of", "Session consumed of"),
    reserved = ProtoField.bytes("lnd.reserved", "Reserved"),
    -- Bodies.
    version_min = ProtoField.uint8("lnd.hello.version_min", "Lowest version spoken"),
    version_max = ProtoField.uint8("lnd.hello.version_max", "Highest version spoken"),
    attempt = ProtoField.uint8("lnd.attempt", "Attempt"),
    immediate_max = ProtoField.uint32("lnd.immediate_max", "Largest IMMEDIATE payload"),
    features = ProtoField.uint32("lnd.features", "Features of the engine", base.HEX),
    pushes = ProtoField.bool("lnd.features.pushes", "Pushes", 32, nil, 0x00000040),
    cancels = ProtoField.bool("lnd.features.cancel", "Takes CANCEL", 32, nil, 0x80000000),
    given_up = ProtoField.uint32("lnd.hello.given_up", "Requests given up", base.HEX),
    ack_session = ProtoField.uint32("lnd.ack.session", "Session of the HELLO"),
    ack_version = ProtoField.uint8("lnd.ack.version", "Version to use"),
    depth = ProtoField.uint16("lnd.ack.depth", "Requests in flight, at most"),
    header_length = ProtoField.uint16("lnd.header.length", "Header length"),
    header = ProtoField.bytes("lnd.header", "Upper-layer header"),
    payload_length = ProtoField.uint32("lnd.payload.length", "Payload length"),
    payload = ProtoField.bytes("lnd.payload", "Payload"),
    key_length = ProtoField.uint8("lnd.key.length", "Key length"),
    key = ProtoField.bytes("lnd.key", "Key"),
    source_cookie = ProtoField.uint64("lnd.source_cookie", "Source's cookie", base.HEX),
    sink_cookie = ProtoField.uint64("lnd.sink_cookie", "Sink's cookie", base.HEX),
    cookie_index = ProtoField.uint32("lnd.cookie.index", "Index"),
    cookie_generation = ProtoField.uint32("lnd.cookie.generation", "Generation"),
    bytes = ProtoField.uint32("lnd.bytes", "Bytes staged, or room"),
    pushed = ProtoField.uint32("lnd.pushed", "Bytes pushed"),
    refusal = ProtoField.uint8("lnd.refusal", "Refusal", base.DEC, refusals),
    cancel_session = ProtoField.uint32("lnd.cancel.session", "Session of the request"),
    cancel_sequence = ProtoField.uint32("lnd.cancel.sequence", "Number of the request"),
    -- What is concluded.
    error = ProtoField.string("lnd.error", "Refused"),
    request_in = ProtoField.framenum("lnd.request_in", "Answers", base.NONE, frametype.REQUEST),
    answer_in = ProtoField.framenum("lnd.answer_in", "Answered in", base.NONE, frametype.RESPONSE),
    answer_time = ProtoField.relative_time("lnd.answer_time", "Time to the answer"),
}
local fields = {}
for _, field in pairs(f) do
    fields[#fields + 1] = field
end
lnd.fields = fields

-- The reasons of the library's decoder, in its words.
local reasons = {
    "unknown class",
    "wrong magic",
    "unknown version",
    "unknown kind of message",
    "truncated",
    "bytes behind the end",
    "too large",
    "lengths do not add up",
    "checksum mismatch",
    "checksum missing",
    "reserved byte not zero",
    "NID is zero",
    "incarnation is zero",
    "unknown refusal",
    "upper-layer header too long",
    "wrong sender",
    "head of another channel's format",
    "key too long",
}
local experts, expert_list = {}, {}
for number, reason in ipairs(reasons) do
    local group = expert.group.MALFORMED
    if reason:find("checksum") then
        group = expert.group.CHECKSUM
    end
    local info = ProtoExpert.new("lnd.refused." .. number, reason, group, expert.severity.ERROR)
    experts[reason] = info
    expert_list[#expert_list + 1] = info
end
local refused_request =
    ProtoExpert.new("lnd.refusal_seen", "refused", expert.group.RESPONSE_CODE, expert.severity.NOTE)
local no_capture_head = ProtoExpert.new(
    "lnd.capture.unknown", "unknown head of a capture", expert.group.MALFORMED,
    expert.severity.ERROR)
expert_list[#expert_list + 1] = refused_request
expert_list[#expert_list + 1] = no_capture_head
lnd.experts = expert_list

-- Exclusive or of 32 bits: an operator since Lua 5.3, a library before.
local bxor = bit32 and bit32.bxor
if not bxor then
    bxor = load("return function(a, b) return a ~ b end")()
end

-- All numbers are below 2^32 and all products below 2^53: exact in every Lua.
local WORD = 4294967296
local function multiply(a, b)
    local low, high = b % 65536, math.floor(b / 65536)
    return (a * low + (a * high) % 65536 * 65536) % WORD
end
local function rotate(a, n)
    return (a * 2 ^ n) % WORD + math.floor(a / 2 ^ (32 - n))
end
local function shift(a, n)
    return math.floor(a / 2 ^ n)
end

local function little(frame, at)
    local a, b, c, d = frame:byte(at + 1, at + 4)
    return (a or 0) + (b or 0) * 256 + (c or 0) * 65536 + (d or 0) * 16777216
end

-- The checksum of a frame; the word at `skip` counts as zero.
local function checksum(frame, length, skip)
    local lane = { [0] = 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a }
    frame = frame:sub(1, length)
    for at = 0, length - 1, 4 do
        local word = at == skip and 0 or little(frame, at)
        local i = at / 4 % 4
        local mixed = (lane[i] + multiply(word, 0x85a308d3)) % WORD
        lane[i] = multiply(rotate(mixed, 13), 0x9e3779b9)
    end
    local sum = (rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12)
        + rotate(lane[3], 18)) % WORD
    sum = multiply(bxor(sum, shift(sum, 15)), 0x85a308d3)
    sum = multiply(bxor(sum, shift(sum, 13)), 0x9e3779b9)
    sum = bxor(sum, shift(sum, 16))
    return sum == 0 and 1 or sum
end

-- A frame's bytes, and its numbers in its own order.
local Reader = {}
Reader.__index = Reader
function Reader.new(frame, is_little)
    return setmetatable({ frame = frame, is_little = is_little }, Reader)
end
function Reader:u8(at)
    return self.frame:byte(at + 1)
end
function Reader:u16(at)
    local a, b = self.frame:byte(at + 1, at + 2)
    return self.is_little and a + b * 256 or a * 256 + b
end
function Reader:u32(at)
    local a, b, c, d = self.frame:byte(at + 1, at + 4)
    if self.is_little then
        a, b, c, d = d, c, b, a
    end
    return ((a * 256 + b) * 256 + c) * 256 + d
end
function Reader:is_zero(at, size)
    return self.frame:sub(at + 1, at + size) == ("\0"):rep(size)
end
-- Eight bytes as they are, most significant first: what tables go by.
function Reader:name(at)
    local name = self.frame:sub(at + 1, at + 8)
    return self.is_little and name:reverse() or name
end

-- Whether the magic is that of a little-endian sender; nil: it is none.
local function order_of(frame)
    local magic = frame:sub(5, 8)
    if magic == "wDNL" then
        return true
    elseif magic == "LNDw" then
        return false
    end
end

local function is_short_class(class)
    return class == SHORT_CONTROL or class == SHORT_LND
end

-- Answers: they have a refusal. Those that may have none report a pull or a push that went well.
local function is_done(kind)
    return kind == PUT_DONE or kind == GET_DONE
end
local function is_answer_kind(kind)
    return kind == PUT_NAK or kind == GET_NAK or is_done(kind)
end
local function is_cancel(kind)
    return kind == CANCEL_PUT or kind == CANCEL_GET or kind == CANCEL_PUSH
end

------------------------------------------------------------------------------------------------
-- What the library's decoder says of a frame: its reason to refuse it, or nil. The order of the
-- questions is the decoder's, since the first reason is the one that counts.

local function judge_length(r)
    local there, stated = #r.frame, r:u32(8)
    if stated > MAX_FRAME then
        return "too large"
    elseif there < stated or there < 80 then
        return "truncated"
    elseif there > stated then
        return "bytes behind the end"
    end
end

local function judge_sum(r, channel)
    local sum = r:u32(12)
    if sum == 0 then
        return channel.checksums and "checksum missing" or nil
    elseif sum ~= checksum(r.frame, #r.frame, 12) then
        return "checksum mismatch"
    end
end

local function judge_envelope(r, strict, to_stranger)
    local zeros = r:is_zero(3, 1) and r:is_zero(24, 8) and r:is_zero(40, 8) and r:is_zero(74, 2)
    if strict and not zeros then
        return "reserved byte not zero"
    elseif r:is_zero(56, 8) and not to_stranger then
        return "incarnation is zero"
    elseif r:is_zero(16, 8) or r:is_zero(32, 8) then
        return "NID is zero"
    elseif r:is_zero(48, 8) then
        return "incarnation is zero"
    end
end

local function judge_request(r)
    local there = #r.frame
    if there < 96 then
        return "truncated"
    end
    local header, key = r:u16(92), r:u8(94)
    if not r:is_zero(95, 1) then
        return "reserved byte not zero"
    elseif header > MAX_HEADER then
        return "upper-layer header too long"
    elseif key > MAX_KEY then
        return "key too long"
    elseif there ~= 96 + header + key then
        return "lengths do not add up"
    end
end

local function judge_immediate(r)
    local there = #r.frame
    if there < 88 then
        return "truncated"
    elseif not r:is_zero(82, 2) then
        return "reserved byte not zero"
    end
    local header, payload = r:u16(80), r:u32(84)
    if header > MAX_HEADER then
        return "upper-layer header too long"
    elseif there ~= 88 + header + payload then
        return "lengths do not add up"
    end
end

local function judge_answer(r, kind)
    if #r.frame ~= 96 then
        return "lengths do not add up"
    end
    local refusal = r:u8(88)
    local has_pushed = kind == GET_DONE and refusal == 0
    if not r:is_zero(89, 3) then
        return "reserved byte not zero"
    elseif not has_pushed and not r:is_zero(92, 4) then
        return "reserved byte not zero"
    elseif refusal > 5 or (refusal == 0 and not is_done(kind)) then
        return "unknown refusal"
    end
end

local function judge_hello(r, strict, is_ack)
    local there = #r.frame
    if (strict or there < 96) and there ~= 96 then
        return "lengths do not add up"
    elseif strict and not is_ack and not r:is_zero(83, 1) then
        return "reserved byte not zero"
    end
end

local function judge_size(r, size)
    if #r.frame ~= size then
        return "lengths do not add up"
    end
end

local bodies = {
    [HELLO] = function(r, strict) return judge_hello(r, strict, false) end,
    [HELLO_ACK] = function(r, strict) return judge_hello(r, strict, true) end,
    [IMMEDIATE] = judge_immediate,
    [PUT_REQ] = judge_request,
    [GET_REQ] = judge_request,
    [PUT_NAK] = function(r) return judge_answer(r, PUT_NAK) end,
    [GET_NAK] = function(r) return judge_answer(r, GET_NAK) end,
    [PUT_DONE] = function(r) return judge_answer(r, PUT_DONE) end,
    [GET_DONE] = function(r) return judge_answer(r, GET_DONE) end,
    [NOOP] = function(r) return judge_size(r, 80) end,
    [CLOSE] = function(r) return judge_size(r, 80) end,
    [CANCEL_PUT] = function(r) return judge_size(r, 96) end,
    [CANCEL_GET] = function(r) return judge_size(r, 96) end,
    [CANCEL_PUSH] = function(r) return judge_size(r, 96) end,
}

local function judge_control(r, channel)
    if r:u8(2) ~= 1 then
        return "unknown version"
    elseif r:u8(1) ~= PULL_READY then
        return "unknown kind of message"
    elseif #r.frame < 12 then
        return "truncated"
    end
    local reason = judge_length(r)
    if reason then
        return reason
    elseif #r.frame < 104 then
        return "lengths do not add up"
    end
    local key = r:u8(100)
    if key > MAX_KEY then
        return "key too long"
    elseif #r.frame ~= 104 + key then
        return "lengths do not add up"
    end
    reason = judge_sum(r, channel) or judge_envelope(r, true, false)
    if not reason and not r:is_zero(101, 3) then
        reason = "reserved byte not zero"
    end
    return reason
end

local function judge_lnd(r, channel)
    local kind, version = r:u8(1), r:u8(2)
    if version == 0 or (version ~= 1 and kind ~= HELLO and kind ~= HELLO_ACK) then
        return "unknown version"
    elseif #r.frame < 12 then
        return "truncated"
    end
    local strict = version == 1
    local reason = judge_length(r) or judge_sum(r, channel)
        or judge_envelope(r, strict, kind == HELLO)
    if reason then
        return reason
    elseif not bodies[kind] then
        return "unknown kind of message"
    end
    return bodies[kind](r, strict)
end

local function judge_named(frame, channel)
    local class = frame:byte(1)
    if is_short_class(class) then
        return "head of another channel's format"
    elseif class ~= CONTROL and class ~= LND then
        return "unknown class"
    elseif #frame < 8 then
        return "truncated"
    end
    local is_little = order_of(frame)
    if is_little == nil then
        return "wrong magic"
    end
    local r = Reader.new(frame, is_little)
    local reason
    if class == CONTROL then
        reason = judge_control(r, channel)
    else
        reason = judge_lnd(r, channel)
    end
    if reason then
        return reason
    elseif channel.source ~= "" and r:name(16) ~= channel.source then
        return "wrong sender"
    end
    local kind = r:u8(1)
    local stays = class == LND and (kind == HELLO or kind == HELLO_ACK or kind == CLOSE)
    if channel.short_heads and not stays then
        return "head of another channel's format"
    end
end

-- Bytes between a short head and the checksum, or why there are none.
local function short_body(r)
    local class, kind, detail = r:u8(0), r:u8(1), r:u8(2)
    local function with_header(size)
        if detail > MAX_HEADER then
            return nil, "upper-layer header too long"
        end
        return size + detail
    end
    local function with_key(size, reason)
        if reason then
            return nil, reason
        elseif r:u8(34) > MAX_KEY then
            return nil, "key too long"
        end
        return size + r:u8(34)
    end
    if class == SHORT_CONTROL then
        if kind == PULL_READY then
            return with_key(16)
        end
        return nil, "unknown kind of message"
    elseif kind == IMMEDIATE then
        if r:u32(36) > MAX_FRAME then
            return nil, "too large"
        end
        return with_header(r:u32(36))
    elseif kind == PUT_REQ or kind == GET_REQ then
        return with_key(with_header(8))
    elseif is_answer_kind(kind) then
        return 8
    elseif kind == NOOP then
        return 0
    elseif is_cancel(kind) then
        return 16
    end
    return nil, "unknown kind of message"
end

local function judge_short(frame, channel)
    if #frame < 40 then
        return "truncated"
    end
    local r = Reader.new(frame, true)
    local body, reason = short_body(r)
    if reason then
        return reason
    end
    local stated = 40 + body + (channel.checksums and 4 or 0)
    if stated > MAX_FRAME then
        return "too large"
    elseif #frame < stated then
        return "truncated"
    elseif #frame > stated then
        return "bytes behind the end"
    elseif channel.checksums and r:u32(#frame - 4) ~= checksum(frame, #frame - 4) then
        return "checksum mismatch"
    end
    local class, kind = r:u8(0), r:u8(1)
    local no_detail, no_key, no_length = r:is_zero(2, 1), r:is_zero(34, 1), r:is_zero(36, 4)
    if not r:is_zero(3, 1) or not r:is_zero(35, 1) or (kind == IMMEDIATE and not no_key) then
        return "reserved byte not zero"
    elseif r:is_zero(8, 8) or r:is_zero(16, 8) then
        return "incarnation is zero"
    end
    local zeros = true
    if class == SHORT_CONTROL then
        zeros = no_detail
    elseif is_answer_kind(kind) then
        zeros = no_key and (no_length or (kind == GET_DONE and no_detail))
    elseif kind == NOOP or is_cancel(kind) then
        zeros = no_detail and no_key and no_length
    end
    if not zeros then
        return "reserved byte not zero"
    end
    if class == SHORT_LND and is_answer_kind(kind) then
        if r:u8(2) > 5 or (r:u8(2) == 0 and not is_done(kind)) then
            return "unknown refusal"
        end
    end
end

local function judge(frame, channel)
    if #frame == 0 then
        return "truncated"
    elseif channel.short_heads and is_short_class(frame:byte(1)) then
        return judge_short(frame, channel)
    end
    return judge_named(frame, channel)
end

------------------------------------------------------------------------------------------------
-- What is shown. Nothing behind the end of a frame is read, whatever the frame says.

local Shower = {}
Shower.__index = Shower
function Shower.new(tvb, tree, r)
    return setmetatable({ tvb = tvb, tree = tree, r = r }, Shower)
end
function Shower:has(at, size)
    return size > 0 and at + size <= self.tvb:len()
end
function Shower:show(field, at, size, tree)
    if not self:has(at, size) then
        return nil
    end
    tree = tree or self.tree
    if self.r.is_little then
        return tree:add_le(field, self.tvb(at, size))
    end
    return tree:add(field, self.tvb(at, size))
end
function Shower:zeros(at, size)
    if self:has(at, size) and not self.r:is_zero(at, size) then
        self.tree:add(f.reserved, self.tvb(at, size))
    end
end
-- Bytes as they are, as many as there are.
function Shower:content(field, at, size)
    size = math.min(size, self.tvb:len() - at)
    if size > 0 then
        self.tree:add(field, self.tvb(at, size))
    end
end

-- A NID in words, as this repository's software fabric writes them: its most significant byte is
-- the first of `name`.
local function nid_text(name)
    local r = Reader.new(name, false)
    return string.format("%d@soft%d", r:u32(4), r:u32(0))
end

function Shower:nid(field, at)
    local item = self:show(field, at, 8)
    if item then
        item:append_text(" (" .. nid_text(self.r:name(at)) .. ")")
    end
end

function Shower:cookie(field, at)
    local item = self:show(field, at, 8)
    if item then
        local low, high = at, at + 4
        if not self.r.is_little then
            low, high = high, low
        end
        self:show(f.cookie_index, low, 4, item)
        self:show(f.cookie_generation, high, 4, item)
    end
end

function Shower:features(at)
    local item = self:show(f.features, at, 4)
    if item then
        self:show(f.pushes, at, 4, item)
        self:show(f.cancels, at, 4, item)
    end
end

-- A number for the summary, if it is there.
function Shower:number(at, size)
    if not self:has(at, size) then
        return "?"
    end
    return string.format("%d", size == 4 and self.r:u32(at) or self.r:u16(at))
end

-- The body of a CANCEL that names a request by session and number.
local function show_cancel(cookie)
    return function(s)
        s:cookie(cookie, 80)
        s:show(f.cancel_session, 88, 4)
        s:show(f.cancel_sequence, 92, 4)
        return " of number " .. s:number(92, 4)
    end
end

-- The bodies of frames that name both ends. Each returns what the summary says beside the name.
local show_body = {
    [HELLO] = function(s)
        s:show(f.version_min, 80, 1)
        s:show(f.version_max, 81, 1)
        s:show(f.attempt, 82, 1)
        s:zeros(83, 1)
        s:show(f.immediate_max, 84, 4)
        s:features(88)
        s:show(f.given_up, 92, 4)
        return ""
    end,
    [HELLO_ACK] = function(s)
        s:show(f.ack_session, 80, 4)
        s:show(f.ack_version, 84, 1)
        s:show(f.attempt, 85, 1)
        s:show(f.depth, 86, 2)
        s:show(f.immediate_max, 88, 4)
        s:features(92)
        return " to session " .. s:number(80, 4) .. ", depth " .. s:number(86, 2)
    end,
    [IMMEDIATE] = function(s)
        s:show(f.header_length, 80, 2)
        s:zeros(82, 2)
        s:show(f.payload_length, 84, 4)
        if s:has(80, 8) then
            local header = s.r:u16(80)
            s:content(f.header, 88, header)
            s:content(f.payload, 88 + header, s.r:u32(84))
        end
        return ", " .. s:number(84, 4) .. " bytes"
    end,
    [PUT_REQ] = function(s)
        s:cookie(f.source_cookie, 80)
        s:show(f.bytes, 88, 4)
        s:show(f.header_length, 92, 2)
        s:show(f.key_length, 94, 1)
        s:zeros(95, 1)
        if s:has(92, 4) then
            local header = s.r:u16(92)
            s:content(f.header, 96, header)
            s:content(f.key, 96 + header, s.r:u8(94))
        end
        return ", " .. s:number(88, 4) .. " bytes staged"
    end,
    [GET_REQ] = function(s)
        s:cookie(f.sink_cookie, 80)
        s:show(f.bytes, 88, 4)
        s:show(f.header_length, 92, 2)
        s:show(f.key_length, 94, 1)
        s:zeros(95, 1)
        if s:has(92, 4) then
            local header = s.r:u16(92)
            s:content(f.header, 96, header)
            s:content(f.key, 96 + header, s.r:u8(94))
        end
        return ", room for " .. s:number(88, 4) .. " bytes"
    end,
    [PUT_NAK] = function(s)
        s:cookie(f.source_cookie, 80)
        s:show(f.refusal, 88, 1)
        s:zeros(89, 7)
        return ""
    end,
    [GET_NAK] = function(s)
        s:cookie(f.sink_cookie, 80)
        s:show(f.refusal, 88, 1)
        s:zeros(89, 7)
        return ""
    end,
    [CANCEL_PUT] = show_cancel(f.source_cookie),
    [CANCEL_GET] = function(s)
        s:cookie(f.source_cookie, 80)
        s:cookie(f.sink_cookie, 88)
        return ""
    end,
    [GET_DONE] = function(s)
        s:cookie(f.sink_cookie, 80)
        s:show(f.refusal, 88, 1)
        s:zeros(89, 3)
        s:show(f.pushed, 92, 4)
        return ", " .. s:number(92, 4) .. " bytes pushed"
    end,
    [CANCEL_PUSH] = show_cancel(f.sink_cookie),
}
show_body[PUT_DONE] = show_body[PUT_NAK]

local function show_pull_ready(s)
    s:cookie(f.sink_cookie, 80)
    s:cookie(f.source_cookie, 88)
    s:show(f.bytes, 96, 4)
    s:show(f.key_length, 100, 1)
    s:zeros(101, 3)
    if s:has(100, 1) then
        s:content(f.key, 104, s.r:u8(100))
    end
    return ", " .. s:number(96, 4) .. " bytes staged"
end

local function show_checksum(s, at, computed)
    local item = s:show(f.checksum, at, 4)
    if not item then
        return
    end
    local status = "good"
    if at == 12 and s.r:u32(at) == 0 then
        status = "none"
    elseif s.r:u32(at) ~= computed then
        status = "bad"
        item:append_text(string.format(", should be 0x%08x", computed))
    end
    s.tree:add(f.checksum_status, s.tvb(at, 4), status):set_generated()
end

local function name_of(class, kind)
    if class == CONTROL or class == SHORT_CONTROL then
        return kind == PULL_READY and "PULL_READY" or "control message " .. kind
    end
    return kinds[kind] or "message " .. kind
end

-- Shows a frame whose head names both ends; its name and the rest of its summary.
local function show_named(s, frame)
    local class, kind = s.r:u8(0), s.r:u8(1)
    if not kind then
        return "frame of one byte", ""
    end
    local name = name_of(class, kind)
    s:show(f.kind, 1, 1):append_text(" (" .. name .. ")")
    s.tree:add(f.message, s.tvb(1, 1), name):set_generated()
    s:show(f.version, 2, 1)
    s:show(f.flags, 3, 1)
    s:content(f.magic, 4, 4)
    if s:has(4, 4) then
        local order = s.r.is_little and "little-endian" or "big-endian"
        s.tree:add(f.order, s.tvb(4, 4), order):set_generated()
    end
    s:show(f.length, 8, 4)
    show_checksum(s, 12, checksum(frame, #frame, 12))
    s:nid(f.from, 16)
    s:zeros(24, 8)
    s:nid(f.to, 32)
    s:zeros(40, 8)
    s:show(f.from_incarnation, 48, 8)
    s:show(f.to_incarnation, 56, 8)
    s:show(f.session, 64, 4)
    s:show(f.sequence, 68, 4)
    s:show(f.credits, 72, 2)
    s:zeros(74, 2)
    s:show(f.credits_of, 76, 4)
    local body = class == CONTROL and show_pull_ready or show_body[kind]
    local rest = body and body(s) or ""
    return name, " " .. s:number(64, 4) .. "/" .. s:number(68, 4) .. rest
end

-- Shows a frame with a short head.
local function show_short(s, frame, channel)
    local class, kind = s.r:u8(0), s.r:u8(1)
    if not kind then
        return "frame of one byte", ""
    end
    local name = name_of(class, kind)
    s:show(f.kind, 1, 1):append_text(" (" .. name .. ")")
    s.tree:add(f.message, s.tvb(1, 1), name):set_generated()
    local has_header = kind == IMMEDIATE or kind == PUT_REQ or kind == GET_REQ
    local refuses = is_answer_kind(kind)
    local is_control = class == SHORT_CONTROL
    if not is_control and has_header then
        s:show(f.header_length, 2, 1)
    elseif not is_control and refuses then
        s:show(f.refusal, 2, 1)
    else
        s:zeros(2, 1)
    end
    s:show(f.flags, 3, 1)
    s:show(f.session, 4, 4)
    s:show(f.from_incarnation, 8, 8)
    s:show(f.to_incarnation, 16, 8)
    s:show(f.sequence, 24, 4)
    s:show(f.credits_of, 28, 4)
    s:show(f.credits, 32, 2)
    local has_key = is_control or kind == PUT_REQ or kind == GET_REQ
    if has_key then
        s:show(f.key_length, 34, 1)
    else
        s:zeros(34, 1)
    end
    s:zeros(35, 1)
    local header = s:has(2, 1) and s.r:u8(2) or 0
    local key = s:has(34, 1) and s.r:u8(34) or 0
    local rest = ""
    if is_control then
        s:show(f.bytes, 36, 4)
        s:cookie(f.sink_cookie, 40)
        s:cookie(f.source_cookie, 48)
        s:content(f.key, 56, key)
        rest = ", " .. s:number(36, 4) .. " bytes staged"
    elseif kind == IMMEDIATE then
        s:show(f.payload_length, 36, 4)
        s:content(f.header, 40, header)
        if s:has(36, 4) then
            s:content(f.payload, 40 + header, s.r:u32(36))
        end
        rest = ", " .. s:number(36, 4) .. " bytes"
    elseif kind == PUT_REQ or kind == GET_REQ then
        s:show(f.bytes, 36, 4)
        s:cookie(kind == PUT_REQ and f.source_cookie or f.sink_cookie, 40)
        s:content(f.header, 48, header)
        s:content(f.key, 48 + header, key)
        rest = ", " .. s:number(36, 4) .. (kind == PUT_REQ and " bytes staged" or " bytes wanted")
    elseif kind == GET_DONE then
        s:show(f.pushed, 36, 4)
        s:cookie(f.sink_cookie, 40)
        rest = ", " .. s:number(36, 4) .. " bytes pushed"
    else
        s:zeros(36, 4)
        if refuses then
            s:cookie(kind == GET_NAK and f.sink_cookie or f.source_cookie, 40)
        elseif kind == CANCEL_GET then
            s:cookie(f.source_cookie, 40)
            s:cookie(f.sink_cookie, 48)
        elseif kind == CANCEL_PUT or kind == CANCEL_PUSH then
            s:cookie(kind == CANCEL_PUT and f.source_cookie or f.sink_cookie, 40)
            s:show(f.cancel_session, 48, 4)
            s:show(f.cancel_sequence, 52, 4)
        end
    end
    if channel.checksums and #frame >= 44 then
        show_checksum(s, #frame - 4, checksum(frame, #frame - 4))
    end
    return name, " " .. s:number(4, 4) .. "/" .. s:number(24, 4) .. rest
end

------------------------------------------------------------------------------------------------
-- Requests and their answers. A request is named by who has sent it, in which incarnation, to whom,
-- and by its cookie; a HELLO by its session.

local requests, answers, answer_of = {}, {}, {}

function lnd.init()
    requests, answers, answer_of = {}, {}, {}
end

-- What a correct frame asks or answers: its kind of question, and its name. `is_answer` as well.
local function question(r, channel)
    local class, kind = r:u8(0), r:u8(1)
    local short = is_short_class(class)
    local cookie = short and 40 or 80
    local own, other = short and 8 or 48, short and 16 or 56
    local what, at, is_answer
    if class == CONTROL or class == SHORT_CONTROL then
        what, at, is_answer = "GET", cookie, true
    elseif kind == PUT_REQ or kind == GET_REQ then
        what, at, is_answer = kind == PUT_REQ and "PUT" or "GET", cookie, false
    elseif kind == PUT_NAK or kind == PUT_DONE then
        what, at, is_answer = "PUT", cookie, true
    elseif kind == GET_NAK or kind == GET_DONE then
        what, at, is_answer = "GET", cookie, true
    elseif kind == HELLO then
        local ends = { "HELLO", channel.source, channel.destination }
        return table.concat(ends, "|") .. r:name(48) .. r:u32(64) .. "|" .. r:u8(82), false
    elseif kind == HELLO_ACK then
        local ends = { "HELLO", channel.destination, channel.source }
        return table.concat(ends, "|") .. r:name(56) .. r:u32(80) .. "|" .. r:u8(85), true
    else
        return nil
    end
    local asks, asked, incarnation = channel.source, channel.destination, r:name(own)
    if is_answer then
        asks, asked, incarnation = asked, asks, r:name(other)
    end
    return table.concat({ what, asks, asked, incarnation, r:name(at) }, "|"), is_answer
end

local function match(s, pinfo, channel)
    local name, is_answer = question(s.r, channel)
    if not name then
        return
    end
    local number = pinfo.number
    if not pinfo.visited then
        if is_answer then
            local request = requests[name]
            if request then
                answer_of[number] = request
                answers[request.number] = answers[request.number] or number
            end
        elseif not requests[name] then
            requests[name] = { number = number, at = pinfo.rel_ts }
        end
    end
    if answer_of[number] then
        local request = answer_of[number]
        s.tree:add(f.request_in, request.number):set_generated()
        local span = math.max(pinfo.rel_ts - request.at, 0)
        local seconds = math.floor(span)
        local time = NSTime.new(seconds, math.floor((span - seconds) * 1e9 + 0.5) % 1000000000)
        s.tree:add(f.answer_time, time):set_generated()
    elseif answers[number] then
        s.tree:add(f.answer_in, answers[number]):set_generated()
    end
end

------------------------------------------------------------------------------------------------

-- What the capture's head says. nil: it is none of ours.
local function show_head(tvb, tree)
    if tvb:len() < HEAD or tvb(0, 1):uint() ~= 1 then
        return nil
    end
    local raw = tvb:raw(0, HEAD)
    local r = Reader.new(raw, false)
    local channel = {
        checksums = r:u8(3) % 2 == 1,
        short_heads = math.floor(r:u8(3) / 2) % 2 == 1,
        source = r:is_zero(8, 8) and "" or r:name(8),
        destination = r:name(16),
    }
    local branch = tree:add(f.head, tvb(0, HEAD))
    branch:add(f.head_version, tvb(0, 1))
    branch:add(f.lane, tvb(1, 1))
    branch:add(f.link, tvb(2, 1))
    branch:add(f.checksums, tvb(3, 1))
    branch:add(f.short_heads, tvb(3, 1))
    branch:add(f.source, tvb(8, 8)):append_text(" (" .. nid_text(r:name(8)) .. ")")
    branch:add(f.destination, tvb(16, 8)):append_text(" (" .. nid_text(r:name(16)) .. ")")
    channel.lane = lanes[r:u8(1)] or "?"
    return channel
end

function lnd.dissector(tvb, pinfo, root)
    pinfo.cols.protocol = "LND"
    local tree = root:add(lnd, tvb())
    local channel = show_head(tvb, tree)
    if not channel then
        tree:add_proto_expert_info(no_capture_head)
        return tvb:len()
    end
    pinfo.cols.src = nid_text(channel.source == "" and ("\0"):rep(8) or channel.source)
    pinfo.cols.dst = nid_text(channel.destination)
    local there = tvb:len() - HEAD
    local frame = there > 0 and tvb:raw(HEAD, there) or ""
    local reason = judge(frame, channel)
    local name, rest = "empty frame", ""
    if there > 0 then
        local class = frame:byte(1)
        local short = is_short_class(class)
        local is_little = short or order_of(frame) or false
        local s = Shower.new(tvb(HEAD, there):tvb(), tree, Reader.new(frame, is_little))
        s:show(f.class, 0, 1)
        if short then
            name, rest = show_short(s, frame, channel)
        elseif class == CONTROL or class == LND then
            name, rest = show_named(s, frame)
        else
            name = "frame of unknown class"
        end
        if not reason then
            match(s, pinfo, channel)
            local at = short and 2 or 88
            local kind = frame:byte(2)
            local answers_so = (class == LND or class == SHORT_LND) and is_answer_kind(kind)
            if answers_so and s.r:u8(at) ~= 0 then
                local why = refusals[s.r:u8(at)] or "?"
                tree:add_proto_expert_info(refused_request, name .. ": " .. why)
                rest = rest .. ", " .. why
            end
        end
    end
    if reason then
        tree:add(f.error, tvb(HEAD - 1, 0), reason):set_generated()
        tree:add_proto_expert_info(experts[reason])
        rest = rest .. " [refused: " .. reason .. "]"
    end
    tree:append_text(", " .. name)
    pinfo.cols.info = name .. rest .. " (" .. channel.lane .. ")"
    return tvb:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, lnd)
