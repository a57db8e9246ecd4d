package dev.ashlar.gateway.auth;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;

/** Authenticates the sender of a request and verifies its body. */
public interface Authenticator {
  /**
   * Verifies the request's signature (header or query) before a byte of the body is read.
   *
   * @throws S3Exception with the error AWS gives for a missing, malformed, expired or wrong
   *     signature
   */
  AuthenticatedRequest authenticate(HttpExchange exchange) throws S3Exception;

  /**
   * Verifies the signature in the fields of a form, and that the policy which is signed allows the
   * form. Without such fields its sender is anonymous.
   *
   * @throws S3Exception as for other requests; InvalidPolicyDocument, or AccessDenied by the policy
   */
  AuthenticatedRequest authenticateForm(PostForm form) throws S3Exception;

  /**
   * A request whose signature is valid.
   *
   * @param body the payload: aws-chunked removed, chunk signatures, payload hash, Content-MD5 and
   *     x-amz-checksum-* (header or trailer) verified by the time it returns null
   */
  record AuthenticatedRequest(Caller caller, PayloadBody body) {}

  /** A verified payload with the digests that were computed of it. */
  interface PayloadBody extends RequestBody {
    /**
     * The checksum the client sent along, known and verified once {@link #read} returned null;
     * CHECKSUM_NONE when it sent none.
     */
    ChecksumValue checksum();

    /** Also computes this checksum although the client sent none; before the first read only. */
    void alsoCompute(ChecksumAlgorithm algorithm);

    /**
     * Does not compute the MD5: the reader does and calls {@link #requireMd5}. Before the first
     * read.
     */
    void skipMd5();

    /**
     * @param computed of all that was read
     * @throws S3Exception if the client sent another one along
     */
    void requireMd5(byte[] computed) throws S3Exception;
  }
}
