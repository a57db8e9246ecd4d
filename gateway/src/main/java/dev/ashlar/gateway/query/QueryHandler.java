package dev.ashlar.gateway.query;

import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;

/** The actions of one service. */
public interface QueryHandler {
  /**
   * Serves a signed request.
   *
   * @param result takes the content of the result element
   */
  void handle(QueryCall call, XmlWriter result) throws QueryException, MetadataUnavailableException;

  /** Whether this action needs no signature. */
  default boolean isUnsigned(String action) {
    return false;
  }

  /** Serves a request for an action that needs no signature, signed or not. */
  default void handleUnsigned(UnsignedCall call, XmlWriter result)
      throws QueryException, MetadataUnavailableException {
    throw new QueryException(
        QueryError.MISSING_AUTHENTICATION_TOKEN, "Request is missing Authentication Token");
  }
}
