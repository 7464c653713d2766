// SPDX-License-Identifier: Apache-2.0
// rules/default.toml as it is, in the read-only data of the program. CMakeLists.txt names it and rebuilds on change.
    .section .rodata
    .global sawbill_default_rules_begin
    .global sawbill_default_rules_end
    .hidden sawbill_default_rules_begin
    .hidden sawbill_default_rules_end
sawbill_default_rules_begin:
    .incbin SAWBILL_DEFAULT_RULES_PATH
sawbill_default_rules_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
