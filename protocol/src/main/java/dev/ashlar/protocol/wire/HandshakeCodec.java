package dev.ashlar.protocol.wire;

import static dev.ashlar.protocol.wire.WireValues.UUIDS;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The handshake, byte for byte. */
final class HandshakeCodec {
  private static final int MAGIC = 0x41534857; // "ASHW"
  private static final int IDENTITY_BYTES = 8 + 2 * UUIDS.bytes();
  private static final int SERVED_BYTES = UUIDS.bytes() + Long.BYTES + 1;

  private HandshakeCodec() {}

  static int bytes(HandshakeMessage message) {
    return switch (message) {
      case HandshakeMessage.Hello hello ->
          IDENTITY_BYTES + HandshakeMessage.NONCE_BYTES + UUIDS.listBytes(hello.drives());
      case HandshakeMessage.Challenge challenge -> IDENTITY_BYTES + HandshakeMessage.NONCE_BYTES;
      case HandshakeMessage.Proof proof -> HandshakeMessage.PROOF_BYTES;
      case HandshakeMessage.Welcome welcome ->
          HandshakeMessage.PROOF_BYTES + bytes(welcome.terms());
      case HandshakeMessage.Refusal refusal ->
          IDENTITY_BYTES + 1 + WireValues.text(refusal.why()).length;
    };
  }

  static int bytes(HandshakeMessage.Terms terms) {
    return 3 * Integer.BYTES + Short.BYTES + terms.drives().size() * SERVED_BYTES;
  }

  static void put(ByteBuffer out, HandshakeMessage message) {
    switch (message) {
      case HandshakeMessage.Hello hello -> {
        putIdentity(out, hello.identity());
        out.put(hello.nonce());
        UUIDS.putList(out, hello.drives());
      }
      case HandshakeMessage.Challenge challenge -> {
        putIdentity(out, challenge.identity());
        out.put(challenge.nonce());
      }
      case HandshakeMessage.Proof proof -> out.put(proof.proof());
      case HandshakeMessage.Welcome welcome -> {
        out.put(welcome.proof());
        putTerms(out, welcome.terms());
      }
      case HandshakeMessage.Refusal refusal -> {
        putIdentity(out, refusal.identity());
        out.put(refusal.fault().code()).put(WireValues.text(refusal.why()));
      }
    }
  }

  private static void putIdentity(ByteBuffer out, PeerIdentity identity) {
    out.putInt(MAGIC)
        .putShort((short) identity.version())
        .put(identity.role().code())
        .put((byte) 0);
    UUIDS.put(out, identity.cluster());
    UUIDS.put(out, identity.instance());
  }

  static void putTerms(ByteBuffer out, HandshakeMessage.Terms terms) {
    out.putInt(terms.operationsMax()).putInt(terms.writeBytesMax()).putInt(terms.readBytesMax());
    out.putShort((short) terms.drives().size());
    for (HandshakeMessage.ServedDrive served : terms.drives()) {
      UUIDS.put(out, served.drive().id());
      out.putLong(served.drive().incarnation()).put(WireValues.code(served.refusal()));
    }
  }

  static HandshakeMessage take(MessageType type, ByteBuffer in) throws WireFormatException {
    return switch (type) {
      case HELLO -> takeHello(in);
      case CHALLENGE -> takeChallenge(in);
      case PROOF ->
          new HandshakeMessage.Proof(WireValues.takeBytes(in, HandshakeMessage.PROOF_BYTES));
      case WELCOME ->
          new HandshakeMessage.Welcome(
              WireValues.takeBytes(in, HandshakeMessage.PROOF_BYTES), takeTerms(in));
      case REFUSAL ->
          new HandshakeMessage.Refusal(
              takeIdentity(in),
              Coded.of(HandshakeFault.values(), in.get()),
              WireValues.takeText(in));
      default -> throw new WireFormatException(type + " is not a handshake message");
    };
  }

  private static HandshakeMessage takeHello(ByteBuffer in) throws WireFormatException {
    PeerIdentity identity = takeIdentity(in);
    byte[] nonce = WireValues.takeBytes(in, HandshakeMessage.NONCE_BYTES);
    if (identity.version() != Wire.VERSION) {
      // The rest belongs to the other version, which is refused anyway.
      in.position(in.limit());
      return new HandshakeMessage.Hello(identity, nonce, List.of());
    }
    return new HandshakeMessage.Hello(identity, nonce, UUIDS.takeList(in));
  }

  private static HandshakeMessage takeChallenge(ByteBuffer in) throws WireFormatException {
    PeerIdentity identity = takeIdentity(in);
    byte[] nonce = WireValues.takeBytes(in, HandshakeMessage.NONCE_BYTES);
    if (identity.version() != Wire.VERSION) {
      in.position(in.limit());
    }
    return new HandshakeMessage.Challenge(identity, nonce);
  }

  private static PeerIdentity takeIdentity(ByteBuffer in) throws WireFormatException {
    if (in.getInt() != MAGIC) {
      throw new WireFormatException("not a message of this protocol");
    }
    int version = Short.toUnsignedInt(in.getShort());
    Role role = Coded.of(Role.values(), in.get());
    in.get();
    UUID cluster = UUIDS.take(in);
    return new PeerIdentity(version, role, cluster, UUIDS.take(in));
  }

  private static HandshakeMessage.Terms takeTerms(ByteBuffer in) throws WireFormatException {
    return new HandshakeMessage.Terms(
        in.getInt(),
        in.getInt(),
        in.getInt(),
        WireValues.takeList(in, SERVED_BYTES, HandshakeCodec::takeServed));
  }

  private static HandshakeMessage.ServedDrive takeServed(ByteBuffer in) throws WireFormatException {
    DriveId drive = new DriveId(UUIDS.take(in), in.getLong());
    @Nullable ShardFault refusal = WireValues.fault(in.get());
    return new HandshakeMessage.ServedDrive(drive, refusal);
  }
}
