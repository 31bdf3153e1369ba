// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages: see message.h. */
#include "dra/message.h"

void message_answer(struct rpc_answer *answer, const struct ProtobufCMessage *message)
{
	answer->len = protobuf_c_message_get_packed_size(message);
	answer->message = zalloc(answer->len, 1);
	protobuf_c_message_pack(message, answer->message);
	answer->status = GRPC_STATUS_OK;
}
