package dev.ashlar.protocol.wire;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The handshake, byte for byte. */
final class GreetingCodec {
  private static final int MAGIC = 0x41534857; // "ASHW"
  private static final int UUID_BYTES = 16;
  private static final int SIDE_BYTES = 8 + 2 * UUID_BYTES;
  private static final int SERVED_BYTES = UUID_BYTES + Long.BYTES + 1;

  private GreetingCodec() {}

  static int bytes(Greeting greeting) {
    return switch (greeting) {
      case Greeting.Hello hello ->
          SIDE_BYTES + Greeting.NONCE_BYTES + Short.BYTES + hello.drives().size() * UUID_BYTES;
      case Greeting.Challenge challenge -> SIDE_BYTES + Greeting.NONCE_BYTES;
      case Greeting.Proof proof -> Greeting.PROOF_BYTES;
      case Greeting.Welcome welcome -> Greeting.PROOF_BYTES + bytes(welcome.terms());
      case Greeting.Refusal refusal -> SIDE_BYTES + 1 + WireValues.text(refusal.why()).length;
    };
  }

  static int bytes(Greeting.Terms terms) {
    return 3 * Integer.BYTES + Short.BYTES + terms.drives().size() * SERVED_BYTES;
  }

  static void put(ByteBuffer out, Greeting greeting) {
    switch (greeting) {
      case Greeting.Hello hello -> {
        putSide(out, hello.side());
        out.put(hello.nonce()).putShort((short) hello.drives().size());
        hello.drives().forEach(drive -> WireValues.putUuid(out, drive));
      }
      case Greeting.Challenge challenge -> {
        putSide(out, challenge.side());
        out.put(challenge.nonce());
      }
      case Greeting.Proof proof -> out.put(proof.proof());
      case Greeting.Welcome welcome -> {
        out.put(welcome.proof());
        putTerms(out, welcome.terms());
      }
      case Greeting.Refusal refusal -> {
        putSide(out, refusal.side());
        out.put(refusal.fault().code()).put(WireValues.text(refusal.why()));
      }
    }
  }

  private static void putSide(ByteBuffer out, Side side) {
    out.putInt(MAGIC).putShort((short) side.version()).put(side.role().code()).put((byte) 0);
    WireValues.putUuid(out, side.cluster());
    WireValues.putUuid(out, side.instance());
  }

  static void putTerms(ByteBuffer out, Greeting.Terms terms) {
    out.putInt(terms.operationsMax()).putInt(terms.writeBytesMax()).putInt(terms.readBytesMax());
    out.putShort((short) terms.drives().size());
    for (Greeting.ServedDrive served : terms.drives()) {
      WireValues.putUuid(out, served.drive().id());
      out.putLong(served.drive().incarnation()).put(WireValues.code(served.refusal()));
    }
  }

  static Greeting take(MessageType type, ByteBuffer in) throws WireFormatException {
    return switch (type) {
      case HELLO -> takeHello(in);
      case CHALLENGE -> takeChallenge(in);
      case PROOF -> new Greeting.Proof(WireValues.takeBytes(in, Greeting.PROOF_BYTES));
      case WELCOME ->
          new Greeting.Welcome(WireValues.takeBytes(in, Greeting.PROOF_BYTES), takeTerms(in));
      case REFUSAL ->
          new Greeting.Refusal(takeSide(in), HandshakeFault.of(in.get()), WireValues.takeText(in));
      default -> throw new WireFormatException(type + " is no greeting");
    };
  }

  private static Greeting takeHello(ByteBuffer in) throws WireFormatException {
    Side side = takeSide(in);
    byte[] nonce = WireValues.takeBytes(in, Greeting.NONCE_BYTES);
    if (side.version() != Wire.VERSION) {
      // What follows is the other version's affair: it only has to be told of ours.
      in.position(in.limit());
      return new Greeting.Hello(side, nonce, List.of());
    }
    return new Greeting.Hello(
        side, nonce, WireValues.takeList(in, UUID_BYTES, WireValues::takeUuid));
  }

  private static Greeting takeChallenge(ByteBuffer in) throws WireFormatException {
    Side side = takeSide(in);
    byte[] nonce = WireValues.takeBytes(in, Greeting.NONCE_BYTES);
    if (side.version() != Wire.VERSION) {
      in.position(in.limit());
    }
    return new Greeting.Challenge(side, nonce);
  }

  private static Side takeSide(ByteBuffer in) throws WireFormatException {
    if (in.getInt() != MAGIC) {
      throw new WireFormatException("no greeting of this protocol");
    }
    int version = Short.toUnsignedInt(in.getShort());
    Role role = Role.of(in.get());
    in.get();
    UUID cluster = WireValues.takeUuid(in);
    return new Side(version, role, cluster, WireValues.takeUuid(in));
  }

  private static Greeting.Terms takeTerms(ByteBuffer in) throws WireFormatException {
    return new Greeting.Terms(
        in.getInt(),
        in.getInt(),
        in.getInt(),
        WireValues.takeList(in, SERVED_BYTES, GreetingCodec::takeServed));
  }

  private static Greeting.ServedDrive takeServed(ByteBuffer in) throws WireFormatException {
    DriveId drive = new DriveId(WireValues.takeUuid(in), in.getLong());
    @Nullable ShardFault refusal = WireValues.fault(in.get());
    return new Greeting.ServedDrive(drive, refusal);
  }
}
