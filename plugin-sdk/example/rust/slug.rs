//! A plugin in Rust, without any crate.
//!
//!     rustc --edition 2021 --crate-type cdylib -O slug.rs -o slug.so
//!
//! The first module says in Rust what <mortise/plugin.h> says in C, as far as this plugin needs
//! it: members are in the header's order, and `size` is set to what is declared here.  No panic
//! may leave a function that the host calls.

#![deny(improper_ctypes_definitions)]

mod mortise {
    use std::ffi::{c_char, c_void};
    use std::ptr;

    pub const MAGIC: u32 = 0x5452_4f4d;
    pub const FAILED: i32 = -1;
    pub const STRING: u32 = 1;
    pub const INTEGER: u32 = 2;
    pub const REQUIRED: u32 = 1 << 0;
    pub const HAS_MIN: u32 = 1 << 1;
    pub const HAS_MAX: u32 = 1 << 2;
    pub const READ_ONLY: u32 = 1 << 0;
    pub const CONCURRENCY_SAFE: u32 = 1 << 1;
    pub const TEXT_RESULT: u32 = 0;

    #[repr(C)]
    pub struct Stamp {
        pub magic: u32,
        pub abi_major: u16,
        pub abi_minor: u16,
    }

    #[repr(C)]
    pub struct Field {
        pub name: *const c_char,
        pub description: *const c_char,
        pub kind: u32,
        pub flags: u32,
        pub offset: u32,
        pub seen_offset: u32,
        pub min: f64,
        pub max: f64,
        pub fallback: *const c_char,
        pub choices: *const *const c_char,
        pub record: *const Shape,
        pub pattern: *const c_char,
        pub format: *const c_char,
    }

    impl Field {
        pub const NONE: Field = Field {
            name: ptr::null(),
            description: ptr::null(),
            kind: 0,
            flags: 0,
            offset: 0,
            seen_offset: 0,
            min: 0.0,
            max: 0.0,
            fallback: ptr::null(),
            choices: ptr::null(),
            record: ptr::null(),
            pattern: ptr::null(),
            format: ptr::null(),
        };
    }

    #[repr(C)]
    pub struct Shape {
        pub size: u32,
        pub struct_size: u32,
        pub field_size: u32,
        pub field_count: u32,
        pub fields: *const Field,
    }

    #[repr(C)]
    pub struct ToolMeta {
        pub size: u32,
        pub flags: u32,
        pub name: *const c_char,
        pub description: *const c_char,
        pub shape: *const Shape,
        pub input_schema: *const c_char,
        pub output_schema: *const c_char,
        pub scopes: *const *const c_char,
        pub title: *const c_char,
        pub examples: *const *const c_char,
    }

    #[repr(C)]
    pub struct Tool {
        pub size: u32,
        pub reserved: u32,
        pub meta: *const ToolMeta,
        pub state: *mut c_void,
        pub state_tag: *const c_char,
        pub run: unsafe extern "C" fn(*const Tool, *mut Call, *const c_void) -> i32,
    }

    #[repr(C)]
    pub struct Error {
        pub size: u32,
        pub category: u32,
        pub component: *const c_char,
        pub code: *const c_char,
        pub message: *const c_char,
        pub message_length: usize,
        pub retry_after_ms: i64,
    }

    /// The first two of many: what stands behind them is not touched here.
    #[repr(C)]
    pub struct CallOps {
        pub size: u32,
        pub reserved: u32,
        pub reply: unsafe extern "C" fn(*mut Call, u32, *const c_char, usize) -> i32,
        pub fail: unsafe extern "C" fn(*mut Call, *const Error) -> i32,
    }

    #[repr(C)]
    pub struct Call {
        pub size: u32,
        pub reserved: u32,
        pub ops: *const CallOps,
        pub tool: *const Tool,
    }

    #[repr(C)]
    pub struct Plugin {
        pub size: u32,
        pub reserved: u32,
        pub name: *const c_char,
        pub version: *const c_char,
        pub tools: *const *const Tool,
        pub tool_count: usize,
        pub hooks: *const c_void,
        pub hook_count: usize,
        pub close: Option<unsafe extern "C" fn(*mut Plugin)>,
    }

    /// Only handed through.
    #[repr(C)]
    pub struct Host {
        _private: [u8; 0],
    }

    /// Tables of constants hold pointers, which Rust does not share between threads unasked.
    #[repr(transparent)]
    pub struct Constant<T>(pub T);
    unsafe impl<T> Sync for Constant<T> {}
}

use mortise::*;
use std::ffi::{c_char, c_void, CStr};
use std::mem::{offset_of, size_of};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;

/// What the tool does: nothing here knows of mortise.
fn slug(text: &str, most: usize) -> String {
    let mut out = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        let word = word.to_lowercase();
        let dash = usize::from(!out.is_empty());
        if out.chars().count() + dash + word.chars().count() > most {
            break;
        }
        if dash == 1 {
            out.push('-');
        }
        out.push_str(&word);
    }
    out
}

// ---- what the model is told, and where its arguments go ----

#[repr(C)]
struct Args {
    text: *const c_char,
    most: i64,
    saw_text: bool,
    saw_most: bool,
}

static FIELDS: Constant<[Field; 2]> = Constant([
    Field {
        name: c"text".as_ptr(),
        description: c"The title to make a slug of.".as_ptr(),
        kind: STRING,
        flags: REQUIRED,
        offset: offset_of!(Args, text) as u32,
        seen_offset: offset_of!(Args, saw_text) as u32,
        ..Field::NONE
    },
    Field {
        name: c"most".as_ptr(),
        description: c"Characters at most; whole words are kept.".as_ptr(),
        kind: INTEGER,
        flags: HAS_MIN | HAS_MAX,
        offset: offset_of!(Args, most) as u32,
        seen_offset: offset_of!(Args, saw_most) as u32,
        min: 1.0,
        max: 200.0,
        fallback: c"60".as_ptr(),
        ..Field::NONE
    },
]);

static SHAPE: Constant<Shape> = Constant(Shape {
    size: size_of::<Shape>() as u32,
    struct_size: size_of::<Args>() as u32,
    field_size: size_of::<Field>() as u32,
    field_count: FIELDS.0.len() as u32,
    fields: &raw const FIELDS.0 as *const Field,
});

static META: Constant<ToolMeta> = Constant(ToolMeta {
    size: size_of::<ToolMeta>() as u32,
    flags: READ_ONLY | CONCURRENCY_SAFE,
    name: c"slug".as_ptr(),
    description: c"Turn a title into the last part of a web address.".as_ptr(),
    shape: &raw const SHAPE.0,
    input_schema: ptr::null(),
    output_schema: ptr::null(),
    scopes: ptr::null(),
    title: c"Slug".as_ptr(),
    examples: ptr::null(),
});

// ---- the border ----

unsafe fn fail(call: *mut Call, message: &str) -> i32 {
    let error = Error {
        size: size_of::<Error>() as u32,
        category: 0,
        component: ptr::null(),
        code: ptr::null(),
        message: message.as_ptr().cast(),
        message_length: message.len(),
        retry_after_ms: 0,
    };
    ((*(*call).ops).fail)(call, &error)
}

unsafe extern "C" fn run(_: *const Tool, call: *mut Call, args: *const c_void) -> i32 {
    let answer = catch_unwind(AssertUnwindSafe(|| {
        let args = &*args.cast::<Args>();
        // The host gives valid UTF-8.
        let text = CStr::from_ptr(args.text).to_string_lossy();
        slug(&text, args.most as usize)
    }));
    match answer {
        Ok(text) if text.is_empty() => fail(call, "the title has no letter and no digit"),
        Ok(text) => ((*(*call).ops).reply)(call, TEXT_RESULT, text.as_ptr().cast(), text.len()),
        Err(_) => FAILED,
    }
}

/// Everything that one loading of the plugin has; close() gets its first member's address.
#[repr(C)]
struct Loaded {
    face: Plugin,
    tools: [*const Tool; 1],
    slug: Tool,
}

unsafe extern "C" fn close(face: *mut Plugin) {
    drop(Box::from_raw(face.cast::<Loaded>()));
}

#[no_mangle]
pub static mortise_plugin_stamp: Stamp = Stamp { magic: MAGIC, abi_major: 1, abi_minor: 0 };

#[no_mangle]
pub extern "C" fn tool_definition(_: *const Host) -> *mut Plugin {
    let loaded = Box::into_raw(Box::new(Loaded {
        face: Plugin {
            size: size_of::<Plugin>() as u32,
            reserved: 0,
            name: c"slug".as_ptr(),
            version: c"1.0.0".as_ptr(),
            tools: ptr::null(),
            tool_count: 1,
            hooks: ptr::null(),
            hook_count: 0,
            close: Some(close),
        },
        tools: [ptr::null()],
        slug: Tool {
            size: size_of::<Tool>() as u32,
            reserved: 0,
            meta: &META.0,
            state: ptr::null_mut(),
            state_tag: ptr::null(),
            run,
        },
    }));
    unsafe {
        (*loaded).tools[0] = &raw const (*loaded).slug;
        (*loaded).face.tools = &raw const (*loaded).tools as *const *const Tool;
        &raw mut (*loaded).face
    }
}
