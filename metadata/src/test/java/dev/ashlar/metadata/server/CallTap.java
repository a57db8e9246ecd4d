package dev.ashlar.metadata.server;

import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallException;

/** Sees the calls of peers to each other, and may hold them up. */
@FunctionalInterface
interface CallTap {
  /** Makes the call. */
  @FunctionalInterface
  interface Call {
    CallAnswer make() throws CallException, InterruptedException;
  }

  CallTap NONE = (to, method, body, call) -> call.make();

  CallAnswer pass(Endpoint to, Method method, byte[] body, Call call)
      throws CallException, InterruptedException;
}
