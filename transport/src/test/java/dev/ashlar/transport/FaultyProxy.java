package dev.ashlar.transport;

import dev.ashlar.protocol.wire.FrameHeader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Stands between a client and a server and does, at a given byte of one direction of one
 * connection, what networks do. Connections after that one pass untouched.
 */
public final class FaultyProxy implements AutoCloseable {
  private static final int BUFFER = 64 << 10;

  /** What is done to the bytes. */
  public enum Fault {
    NONE,
    /** Both sockets are closed. */
    CUT,
    /** Only this direction ends; the other goes on. */
    HALF_CLOSE,
    /** One bit is another. */
    CORRUPT,
    /** Nothing passes any more, and nobody is told. */
    BLACK_HOLE,
    /** Each byte around it passes alone. */
    DRIBBLE
  }

  /**
   * @param towardsServer of which direction
   * @param at of its bytes
   */
  public record Plan(Fault fault, boolean towardsServer, long at) {
    public static final Plan NONE = new Plan(Fault.NONE, true, 0);
  }

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final int serverPort;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final ByteArrayOutputStream up = new ByteArrayOutputStream();
  private final ByteArrayOutputStream down = new ByteArrayOutputStream();
  private volatile Plan plan;
  private volatile boolean isDone;
  private final boolean isRecording;

  public FaultyProxy(int serverPort, boolean isRecording) throws IOException {
    this.serverPort = serverPort;
    this.isRecording = isRecording;
    this.plan = Plan.NONE;
    Thread.ofVirtual().start(this::accept);
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** From the next connection on. */
  public void plan(Plan newPlan) {
    plan = newPlan;
    isDone = false;
  }

  /** Whether the fault has happened. */
  public boolean isDone() {
    return isDone;
  }

  /**
   * Where headers, bodies and data of the frames end that have passed in one direction; of proxies
   * that have seen one connection only.
   */
  public List<Long> boundaries(boolean towardsServer) {
    ByteBuffer bytes = ByteBuffer.wrap((towardsServer ? up : down).toByteArray());
    Set<Long> ends = new LinkedHashSet<>();
    int at = 0;
    while (at + FrameHeader.BYTES <= bytes.limit()) {
      ends.add((long) at + FrameHeader.BYTES);
      int bodyBytes = bytes.getInt(at + 4);
      int dataBytes = bytes.getInt(at + 16);
      ends.add((long) at + FrameHeader.BYTES + bodyBytes);
      at += FrameHeader.BYTES + bodyBytes + dataBytes;
      ends.add((long) at);
    }
    return List.copyOf(ends);
  }

  /** Ends all connections now. */
  public void cutAll() {
    sockets.forEach(FaultyProxy::close);
  }

  private void accept() {
    boolean isOpen = true;
    while (isOpen) {
      isOpen = acceptOne();
    }
  }

  /** False when this proxy is closed; where the server is not there, the client finds out. */
  private boolean acceptOne() {
    try {
      Socket client = listener.accept();
      sockets.add(client);
      Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
      sockets.add(server);
      Plan now = isDone ? Plan.NONE : plan;
      Thread.ofVirtual().start(() -> pass(client, server, true, now));
      Thread.ofVirtual().start(() -> pass(server, client, false, now));
      return true;
    } catch (IOException e) {
      return !listener.isClosed();
    }
  }

  private void pass(Socket from, Socket to, boolean towardsServer, Plan now) {
    boolean isPlanned = now.fault() != Fault.NONE && now.towardsServer() == towardsServer;
    byte[] buffer = new byte[BUFFER];
    long passed = 0;
    try (InputStream in = from.getInputStream()) {
      OutputStream out = to.getOutputStream();
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        if (isRecording) {
          (towardsServer ? up : down).write(buffer, 0, count);
        }
        if (!isPlanned || now.at() >= passed + count || now.at() < passed) {
          out.write(buffer, 0, count);
        } else if (!fault(now, buffer, count, (int) (now.at() - passed), from, to)) {
          return;
        }
        passed += count;
      }
      to.shutdownOutput();
    } catch (IOException e) {
      close(from);
      close(to);
    }
  }

  /** Returns whether bytes go on passing. */
  private boolean fault(Plan now, byte[] buffer, int count, int at, Socket from, Socket to)
      throws IOException {
    isDone = true;
    OutputStream out = to.getOutputStream();
    switch (now.fault()) {
      case CUT -> {
        out.write(buffer, 0, at);
        close(from);
        close(to);
        return false;
      }
      case HALF_CLOSE -> {
        out.write(buffer, 0, at);
        to.shutdownOutput();
        return false;
      }
      case BLACK_HOLE -> {
        out.write(buffer, 0, at);
        from.getInputStream().transferTo(OutputStream.nullOutputStream());
        return false;
      }
      case CORRUPT -> {
        buffer[at] ^= 16;
        out.write(buffer, 0, count);
      }
      case DRIBBLE -> {
        for (int i = 0; i < count; i++) {
          out.write(buffer, i, 1);
          out.flush();
        }
      }
      case NONE -> out.write(buffer, 0, count);
    }
    return true;
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    sockets.forEach(FaultyProxy::close);
  }
}
