package org.openapitools.jackson.nullable;

import com.fasterxml.jackson.databind.module.SimpleModule;

/**
 * The module that generated clients register, without content. It is for fields that may be absent and may also be
 * null. The description has none, so a generated class that needs more of the library does not compile.
 */
public class JsonNullableModule extends SimpleModule {
    private static final long serialVersionUID = 1L;
}
