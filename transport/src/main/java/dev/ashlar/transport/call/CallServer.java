package dev.ashlar.transport.call;

import dev.ashlar.protocol.memory.ByteBudget;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.transport.session.FramePort;
import dev.ashlar.transport.session.ServerSessions;
import java.util.EnumSet;
import java.util.List;

/** Accepts the calls of other processes of the cluster, from construction until it is closed. */
public final class CallServer implements AutoCloseable {
  final CallServerConfig.Limits limits;
  final CallHandler handler;
  final SlabPool slabs = new SlabPool(1 << 20);
  final ByteBudget budget;
  final ServerSessions<CallServerSession> sessions;

  /**
   * @param port accepts the connections; the caller closes it
   */
  public CallServer(CallServerConfig config, FramePort port, CallHandler handler) {
    limits = config.limits();
    this.handler = handler;
    budget = new ByteBudget(limits.callBytesMax());
    sessions =
        new ServerSessions<>(
            new ServerSessions.Admission(
                PeerIdentity.of(Role.METADATA, config.cluster()),
                config.secret(),
                EnumSet.allOf(Role.class),
                List.of(),
                limits.handshakesMax(),
                limits.connectionsMax()));
    port.serveCalls(frames -> sessions.add(new CallServerSession(this, frames)));
  }

  /** Bytes of calls that are not answered yet. */
  public long reservedBytes() {
    return budget.reservedBytes();
  }

  /** Ends all connections; calls that are not answered yet get no answer. */
  @Override
  public void close() {
    sessions.close("the process is shutting down");
  }
}
