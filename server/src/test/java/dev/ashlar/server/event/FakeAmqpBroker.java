package dev.ashlar.server.event;

import com.rabbitmq.client.impl.AMQCommand;
import com.rabbitmq.client.impl.AMQImpl;
import com.rabbitmq.client.impl.Frame;
import com.rabbitmq.client.impl.LongStringHelper;
import com.rabbitmq.client.impl.Method;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** As much of AMQP 0-9-1 as a publisher with confirms needs, made of parts of its client. */
final class FakeAmqpBroker implements AutoCloseable {
  private static final int PREAMBLE_BYTES = 8;
  private static final int HEARTBEAT = 8;
  private static final int FRAME_MAX = 131_072;

  /** What becomes of a message. */
  enum Fate {
    CONFIRMED,
    REFUSED,
    RETURNED,
    CUT_OFF
  }

  final List<String> published = new CopyOnWriteArrayList<>();
  volatile Fate fate = Fate.CONFIRMED;
  private final ServerSocket socket;
  private final List<Socket> connections = new CopyOnWriteArrayList<>();

  FakeAmqpBroker() throws IOException {
    this.socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return socket.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        Socket connection = socket.accept();
        connections.add(connection);
        Thread.ofVirtual().start(() -> serve(connection));
      }
    } catch (IOException e) {
      // It is closed.
    }
  }

  private void serve(Socket connection) {
    try (connection) {
      DataInputStream in = new DataInputStream(connection.getInputStream());
      DataOutputStream out = new DataOutputStream(connection.getOutputStream());
      in.readNBytes(PREAMBLE_BYTES);
      send(
          out,
          0,
          new AMQImpl.Connection.Start(
              0,
              9,
              Map.of("capabilities", Map.of("publisher_confirms", true), "product", "a fake"),
              LongStringHelper.asLongString("PLAIN"),
              LongStringHelper.asLongString("en_US")));
      AMQCommand command = new AMQCommand();
      long number = 0;
      while (true) {
        Frame frame = Frame.readFrom(in, () -> FRAME_MAX);
        if (frame == null || frame.getType() == HEARTBEAT) {
          continue;
        }
        if (!command.handleFrame(frame)) {
          continue;
        }
        Method method = command.getMethod();
        int channel = frame.getChannel();
        switch (method.protocolMethodName()) {
          case "connection.start-ok" -> send(out, 0, new AMQImpl.Connection.Tune(10, FRAME_MAX, 0));
          case "connection.open" -> send(out, 0, new AMQImpl.Connection.OpenOk(""));
          case "connection.close" -> send(out, 0, new AMQImpl.Connection.CloseOk());
          case "channel.open" ->
              send(out, channel, new AMQImpl.Channel.OpenOk(LongStringHelper.asLongString("")));
          case "confirm.select" -> send(out, channel, new AMQImpl.Confirm.SelectOk());
          case "basic.publish" -> {
            if (!published(out, channel, command, ++number)) {
              return;
            }
          }
          default -> {
            // connection.tune-ok
          }
        }
        command = new AMQCommand();
      }
    } catch (IOException e) {
      // The connection has ended.
    }
  }

  private boolean published(DataOutputStream out, int channel, AMQCommand command, long number)
      throws IOException {
    AMQImpl.Basic.Publish publish = (AMQImpl.Basic.Publish) command.getMethod();
    byte[] body = command.getContentBody();
    published.add(
        publish.getExchange()
            + " "
            + publish.getRoutingKey()
            + " "
            + new String(body, StandardCharsets.UTF_8));
    switch (fate) {
      case CONFIRMED -> send(out, channel, new AMQImpl.Basic.Ack(number, false));
      case REFUSED -> send(out, channel, new AMQImpl.Basic.Nack(number, false, false));
      case RETURNED -> {
        send(
            out,
            channel,
            new AMQImpl.Basic.Return(
                312, "NO_ROUTE", publish.getExchange(), publish.getRoutingKey()));
        command.getContentHeader().toFrame(channel, body.length).writeTo(out);
        Frame.fromBodyFragment(channel, ByteBuffer.wrap(body), 0, body.length).writeTo(out);
        send(out, channel, new AMQImpl.Basic.Ack(number, false));
      }
      case CUT_OFF -> {
        return false;
      }
    }
    return true;
  }

  private static void send(DataOutputStream out, int channel, Method method) throws IOException {
    method.toFrame(channel).writeTo(out);
    out.flush();
  }

  @Override
  public void close() throws IOException {
    socket.close();
    for (Socket each : connections) {
      each.close();
    }
  }
}
