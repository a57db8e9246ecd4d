package dev.ashlar.gateway.principal;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.protocol.message.PrincipalQuery;
import dev.ashlar.protocol.message.SessionTokenContent;
import dev.ashlar.protocol.message.SessionTokenEnvelope;
import dev.ashlar.protocol.message.SessionTokenHead;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Session tokens. A token contains the whole session, so there is no row for it. It says openly
 * whose rights the session has; one look-up of that principal also brings the key of its account,
 * with which the rest is decrypted. Nothing in a token counts before all of it is authenticated.
 */
public final class SessionTokens {
  public static final int KEY_BYTES = 32;

  /** Longer tokens are neither issued nor looked at; a token has to fit into a header. */
  public static final int CHARS_MAX = 8192;

  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;
  private static final int CONTENT_BYTES_MAX = 128 << 10;

  private SessionTokens() {}

  /** A token whose open part can be read. It is not authenticated yet. */
  public static final class Claim {
    private final byte[] headBytes;
    private final SessionTokenHead head;
    private final byte[] sealed;

    private Claim(byte[] headBytes, SessionTokenHead head, byte[] sealed) {
      this.headBytes = headBytes;
      this.head = head;
      this.sealed = sealed;
    }

    /** Whose rights the token claims to give. */
    public PrincipalQuery principal() {
      PrincipalQuery.Builder query = PrincipalQuery.newBuilder();
      return head.getAccessKey().isEmpty()
          ? query.setAccount(head.getAccount()).setIdentityId(head.getIdentityId()).build()
          : query.setAccessKey(head.getAccessKey()).build();
    }

    /**
     * Decrypts and authenticates the token.
     *
     * @param key of the account of the principal
     * @return empty if any part of the token was altered, or it is of another key
     */
    public Optional<Session> open(ByteString key) {
      if (key.size() != KEY_BYTES || head.getNonce().size() != NONCE_BYTES) {
        return Optional.empty();
      }
      try {
        Cipher cipher = cipher(Cipher.DECRYPT_MODE, key, head.getNonce().toByteArray());
        cipher.updateAAD(headBytes);
        byte[] content = inflate(cipher.doFinal(sealed));
        return Optional.of(Session.of(SessionTokenContent.parseFrom(content)));
      } catch (GeneralSecurityException | IOException e) {
        return Optional.empty();
      }
    }
  }

  /** Empty if the text does not have the form of a token. */
  public static Optional<Claim> read(String token) {
    if (token.isEmpty() || token.length() > CHARS_MAX) {
      return Optional.empty();
    }
    try {
      byte[] bytes = Base64.getUrlDecoder().decode(token);
      SessionTokenEnvelope envelope = SessionTokenEnvelope.parseFrom(bytes);
      // There is one spelling of a token: else a changed character could leave it valid.
      if (!text(envelope).equals(token)) {
        return Optional.empty();
      }
      byte[] head = envelope.getHead().toByteArray();
      return Optional.of(
          new Claim(head, SessionTokenHead.parseFrom(head), envelope.getSealed().toByteArray()));
    } catch (IllegalArgumentException | InvalidProtocolBufferException e) {
      return Optional.empty();
    }
  }

  /**
   * @param principal whose rights the session has
   * @param key of the account of the principal
   * @return empty if it would be longer than {@link #CHARS_MAX}
   */
  public static Optional<String> issue(
      PrincipalQuery principal, Session session, ByteString key, SecureRandom random) {
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    byte[] head =
        SessionTokenHead.newBuilder()
            .setAccessKey(principal.getAccessKey())
            .setAccount(principal.getAccount())
            .setIdentityId(principal.getIdentityId())
            .setNonce(ByteString.copyFrom(nonce))
            .build()
            .toByteArray();
    try {
      Cipher cipher = cipher(Cipher.ENCRYPT_MODE, key, nonce);
      cipher.updateAAD(head);
      byte[] sealed = cipher.doFinal(deflate(session.content().toByteArray()));
      String text =
          text(
              SessionTokenEnvelope.newBuilder()
                  .setHead(ByteString.copyFrom(head))
                  .setSealed(ByteString.copyFrom(sealed))
                  .build());
      return text.length() > CHARS_MAX ? Optional.empty() : Optional.of(text);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the key of an account cannot encrypt", e);
    }
  }

  private static String text(SessionTokenEnvelope envelope) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(envelope.toByteArray());
  }

  private static Cipher cipher(int mode, ByteString key, byte[] nonce)
      throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(
        mode, new SecretKeySpec(key.toByteArray(), "AES"), new GCMParameterSpec(TAG_BITS, nonce));
    return cipher;
  }

  private static byte[] deflate(byte[] content) {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (DeflaterOutputStream out = new DeflaterOutputStream(packed)) {
      out.write(content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return packed.toByteArray();
  }

  private static byte[] inflate(byte[] packed) throws IOException {
    try (InflaterInputStream in = new InflaterInputStream(new ByteArrayInputStream(packed))) {
      byte[] content = in.readNBytes(CONTENT_BYTES_MAX);
      if (in.read() >= 0) {
        throw new IOException("the content of a token is too long");
      }
      return content;
    }
  }
}
