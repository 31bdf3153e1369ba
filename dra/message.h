/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of gRPC that are messages of protobuf. */
#ifndef DRA_MESSAGE_H
#define DRA_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include "dra/rpc.h"

void message_answer(struct rpc_answer *answer, const struct ProtobufCMessage *message);

#endif /* DRA_MESSAGE_H */
